import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { fromBearer, fromCookie, fromHeader, type TokenSource } from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { PLATFORMS } from '../support/platforms.js';
import { sendRaw } from '../support/raw-request.js';
import { testbed } from '../support/testbed.js';

/** The outcome of a request: admitted, asked for a token, or refused without a call to the service. */
const OUTCOMES = {
  admitted: { status: 200, challenge: null, calls: 1 },
  'asked for a token': { status: 401, challenge: '', calls: 0 },
  refused: { status: 401, challenge: ', error="invalid_token"', calls: 0 },
} as const;

type Sources = TokenSource | TokenSource[];
type Case = [string, Sources, lines: string[], outcome: keyof typeof OUTCOMES, scheme?: string];

const CASES: Case[] = [
  ['Bearer, twice', fromBearer(), Array<string>(2).fill('Authorization: Bearer good'), 'refused', 'Bearer'],
  ['a cookie', fromCookie('sid'), ['Cookie: a=1; sid=good; b=2'], 'admitted'],
  ['a function that throws', fail, [], 'refused'],
  ['two headers, with the second', [fromHeader('x-a'), fromHeader('x-b')], ['X-B: good'], 'admitted'],
  ['none of several', [fromHeader('x-a'), fromBearer(), fromCookie('sid')], [], 'asked for a token', 'X-A'],
];

function fail(): never {
  throw new Error('no');
}

const query: TokenSource = (context: ExecutionContext) =>
  context.switchToHttp().getRequest<{ query: { t?: string } }>().query.t;
describe.each(PLATFORMS)('the token source on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(CASES)('%s: %j %j is %s', async (_source, token, lines, outcome, scheme = 'X-Auth-Token') => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, options: { token } });
    service.signInAs({}, 'good');
    const { status, headers } = await sendRaw(app.url, { lines });

    const { challenge, ...expected } = OUTCOMES[outcome];
    expect({ status, calls: service.callsTo('user_details') }).toEqual(expected);
    expect(headers.get('www-authenticate')).toBe(
      challenge === null ? null : `${scheme} realm="session"${challenge}`,
    );
  });

  it('may be a function of the request', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, options: { token: query } });

    expect((await app.get(`/me?t=${service.signInAs({})}`)).status).toBe(200);
    expect(await always(async () => (await app.get('/me')).status)).toBe(401);
  });
});
