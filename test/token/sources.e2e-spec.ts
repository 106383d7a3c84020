import { describe, expect, it } from '@jest/globals';
import { Controller, Post, type ExecutionContext } from '@nestjs/common';
import { fromBearer, fromCookie, fromHeader, type TokenSource } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { sendRaw } from '../support/raw-request.js';
import { sharedSample, type SharedSample } from '../support/shared-sample.js';
import { testbed } from '../support/testbed.js';

/** The outcome of a request: admitted, asked for a token, or refused without a call to the service. */
const OUTCOMES = {
  admitted: { status: 200, challenge: null, calls: 1 },
  'asked for a token': { status: 401, challenge: '', calls: 0 },
  refused: { status: 401, challenge: ', error="invalid_token"', calls: 0 },
  'refused by the service': { status: 401, challenge: ', error="invalid_token"', calls: 1 },
} as const;

/** `scheme` is that which a 401 names. */
type Case = [
  source: string,
  token: TokenSource | TokenSource[],
  lines: string[],
  outcome: keyof typeof OUTCOMES,
  scheme?: string,
];

const bearer: Case[] = [
  ['Bearer', ['Authorization: Bearer good'], 'admitted'],
  ['two headers with one token', ['Authorization: Bearer good', 'Authorization: Bearer good'], 'refused'],
  ['the default header only', ['X-AUTH-TOKEN: good'], 'asked for a token'],
].map(
  ([name, lines, outcome]) => [`fromBearer: ${String(name)}`, fromBearer(), lines, outcome, 'Bearer'] as Case,
);

const cookie: Case[] = [
  ['among several cookies', ['Cookie: a=1; sid=good; b=2'], 'admitted'],
  ['a cookie whose name starts with a no-break space', ['Cookie: \xa0sid=good'], 'asked for a token'],
  ['the same cookie in two headers', ['Cookie: sid=good', 'Cookie: sid=good'], 'refused'],
].map(
  ([name, lines, outcome]) =>
    [`fromCookie: ${String(name)}`, fromCookie('sid'), lines, outcome, 'Cookie'] as Case,
);

const query: TokenSource = (context: ExecutionContext) =>
  context.switchToHttp().getRequest<{ query: { t?: string } }>().query.t;
const throwing: TokenSource = () => {
  throw new Error('no');
};

const others: Case[] = [
  ['own function: a throw', throwing, [], 'refused'],
  ['a list: its second source', [fromHeader('x-a'), fromHeader('x-b')], ['X-B: good'], 'admitted'],
  [
    'a list: no second chance',
    [fromHeader('x-a'), fromHeader('x-b')],
    ['X-A: go od', 'X-B: good'],
    'refused',
    'X-A',
  ],
  [
    'a list: of which none finds any',
    [fromHeader('x-a'), fromBearer(), fromCookie('sid')],
    [],
    'asked for a token',
    'X-A',
  ],
];

describe.each(PLATFORMS)('the token source on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function expectOutcome(
    { service, app }: SharedSample,
    lines: string[],
    outcome: Case[3],
    scheme = 'X-Auth-Token',
  ): Promise<void> {
    service.signInAs({}, 'good');
    const { status, headers } = await sendRaw(app.url, { lines });
    const calls = service.callsTo('user_details');

    const { challenge, ...expected } = OUTCOMES[outcome];
    expect({ status, challenge: headers.get('www-authenticate'), calls }).toEqual({
      ...expected,
      challenge: challenge === null ? null : `${scheme} realm="session"${challenge}`,
    });
  }

  describe.each([
    ['in a header', fromBearer(), bearer],
    ['in a cookie', fromCookie('sid'), cookie],
  ])('%s', (_place, token, cases) => {
    const shared = sharedSample({ options: { token } }, platform);

    it.each(cases)('%s: %j %j is %s', async (_source, _token, lines, outcome, ...[scheme]) =>
      expectOutcome(shared, lines, outcome, scheme),
    );
  });

  it.each(others)('%s: %j %j is %s', async (_source, token, lines, outcome, ...[scheme]) => {
    const service = await bed.service();
    await expectOutcome(
      { service, app: await bed.sample({ baseUrl: service.url, options: { token } }) },
      lines,
      outcome,
      scheme,
    );
  });

  it('may be a function of the request', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, options: { token: query } });

    expect((await app.get(`/me?t=${service.signInAs({})}`)).status).toBe(200);
    expect((await app.get('/me')).status).toBe(401);
  });
});

@Controller('forms')
class FormsController {
  @Post()
  send(): string {
    return 'sent';
  }
}

describe.each(PLATFORMS)('the place of the token on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('cannot be the body: 401 without a call to the service', async () => {
    const service = await bed.service();
    service.signInAs({}, 'good');
    const app = await bed.sample({
      baseUrl: service.url,
      options: { protectAllRoutes: true },
      controllers: [FormsController],
    });
    const reply = await fetch(`${app.url}/forms`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ 'x-auth-token': 'good', auth_token: 'good', token: 'good' }),
    });

    expect(reply.status).toBe(401);
    expect(service.requests).toHaveLength(0);
  });
});
