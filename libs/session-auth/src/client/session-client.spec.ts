import { beforeEach, describe, expect, it } from '@jest/globals';
import { unavailable, type UnavailableReason } from '../contract/outcome.js';
import type { ReadUser } from '../contract/record/user-record.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import { Deadline } from './deadline.js';
import type { Answer } from './reply.js';
import type { ApiKey } from './session-client.js';
import type { ReplyReports } from './user-details-verdict.js';
import { clientWith, reply, USER } from '../../../../test/support/service-requests.js';

const deadline = new Deadline(60_000);
deadline.clear();

const session: SessionIdentity = { token: 'token', authIv: undefined };

let warned: unknown[] = [];
beforeEach(() => {
  warned = [];
});
const reports: ReplyReports = {
  occurred: (...report) => void warned.push(report),
  attemptFailed: () => undefined,
  unlistedStatus: (...report) => void warned.push(['unlisted status', ...report]),
};

const signIn = (answer: Answer, read?: ReadUser<object>): Promise<unknown> =>
  clientWith(answer, { reports, ...(read && { read }) }).client.signIn(
    { username: 'ann', password: 'x' },
    undefined,
    deadline,
  );
const signOut = (answer: Answer): Promise<unknown> =>
  clientWith(answer, { reports }).client.signOut(session, deadline);

const outage = (reason: string) => ({ code: 'SESSION_SERVICE_UNAVAILABLE', reason });

/** Tests of a sign-in and of a sign-out: the statuses for which neither has its own meaning. */
const OTHER_STATUSES: readonly (readonly [number, object])[] = [
  [400, { code: 'INVALID_REQUEST' }],
  [403, { code: 'ACCESS_DENIED' }],
  [500, outage('server_error')],
  [422, { code: 'INVALID_REQUEST' }],
  [423, { code: 'ACCESS_DENIED' }],
  [302, outage('unexpected_status')],
];

describe('a sign-in or sign-out without a reply', () => {
  it.each<[UnavailableReason, boolean]>([
    ['timeout', true],
    ['unreachable', false],
  ])('(%s) says that its effect is unknown: %p', async (reason, unknown) => {
    const message: unknown = unknown
      ? expect.stringContaining('unknown')
      : expect.not.stringContaining('unknown');
    const failure = { ...outage(reason), message };
    await expect(signIn(unavailable(reason))).rejects.toMatchObject(failure);
    await expect(signOut(unavailable(reason))).rejects.toMatchObject(failure);
  });
});

describe('a sign-in', () => {
  it.each([200, 201])('with a %i returns the user and the token [P38]', async (status) => {
    expect(await signIn(reply(status))).toEqual({ kind: 'signed-in', user: USER, token: 'token' });
    expect(warned).toEqual([]);
  });

  it.each<[string, string, ReadUser<object> | undefined]>([
    ['without a token', '{"username":"ann"}', undefined],
    ['with a token that is too long', '{"username":"ann","auth_token":"123456"}', undefined],
    ['with a token that a header cannot carry', '{"username":"ann","auth_token":"a b"}', undefined],
    ['without a JSON object', '[]', undefined],
    ['that the validator of the application rejects', '{"auth_token":"token"}', () => undefined],
    [
      'on which the validator of the application throws',
      '{"auth_token":"token"}',
      () => {
        throw new Error('of the application');
      },
    ],
  ])('%s fails as malformed', async (_name, body, read) => {
    await expect(signIn(reply(200, body), read)).rejects.toMatchObject(outage('malformed'));
  });

  it('with a 202 is accepted, without a session, even if the reply has a user and a token', async () => {
    expect(await signIn(reply(202))).toStrictEqual({ kind: 'accepted' });
  });

  it.each([
    [401, { code: 'CREDENTIALS_REJECTED' }],
    [404, { code: 'CREDENTIALS_REJECTED' }],
    [204, outage('unexpected_status')] as const,
    ...OTHER_STATUSES,
  ])('with a %i is no session, even if the reply has a user and a token: %j', async (status, failure) => {
    await expect(signIn(reply(status))).rejects.toMatchObject(failure);
  });
});

describe('a sign-in that the service limits', () => {
  it.each([
    [reply(429, '', { 'retry-after': '90' }), 90],
    [reply(429, '', { 'retry-after': '86400' }), 120],
  ])('rejects with the wait that the service asks for, bounded: %#', async (limited, retryAfterSeconds) => {
    await expect(signIn(limited)).rejects.toMatchObject({
      code: 'TOO_MANY_ATTEMPTS',
      statusCode: 429,
      retryAfterSeconds,
    });
  });
});

describe('a sign-out', () => {
  it.each([200, 401, 404, 204])('with a %i is done [P38]', async (status) => {
    await expect(signOut(reply(status, ''))).resolves.toBeUndefined();
    expect(warned).toEqual([]);
  });

  it.each([[429, outage('rate_limited')] as const, ...OTHER_STATUSES])(
    'with a %i fails: %j',
    async (status, failure) => {
      await expect(signOut(reply(status))).rejects.toMatchObject(failure);
    },
  );
});

describe('a status of a sign-in or a sign-out is reported', () => {
  it.each<[number, unknown[]]>([
    [302, [['unexpected reply', 'sign-ins', '302', 'sign-ins', expect.stringContaining('redirect')]]],
    [403, [['access refused', 'sign-ins', 'sign-ins', expect.stringContaining('signIn: { 403')]]],
    [409, [['unlisted status', 'sign_in', 409]]],
    ...[400, 401, 429].map((status): [number, unknown[]] => [status, []]),
  ])(
    'if it is an unlisted refusal other than 429, or if it refuses the application: %i',
    async (status, reported) => {
      await signIn(reply(status)).catch(() => undefined);
      expect(warned).toEqual(reported);
    },
  );

  it('if it is a 403, unless statusMap gives that a meaning, be it the usual one', async () => {
    const { client } = clientWith(reply(403), { reports, statusMap: { signIn: { 403: 'denied' } } });
    const denied = client.signIn({ username: 'ann', password: 'x' }, undefined, deadline);
    await expect(denied).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    expect(warned).toEqual([]);
  });

  it.each([
    ['missing', '{}', '201 without auth_token', 'userRecord'],
    ['no header', '{"auth_token":"a b"}', '201 with an auth_token that is not visible ASCII', 'header'],
    [
      'too long',
      `{"auth_token":"${'a'.repeat(6)}"}`,
      '201 with an auth_token of more than 5 characters',
      'http.maxTokenLength',
    ],
  ])(
    'if its token is %s, with the real status and what is wrong, first [P49]',
    async (_what, body, what, remedy) => {
      await signIn(reply(201, body)).catch(() => undefined);
      expect(warned).toEqual([
        ['unusable reply', 'sign-ins', what, 'sign-ins', expect.stringContaining(remedy)],
      ]);
    },
  );
});

const NO_REPLY = unavailable('unreachable');
const always = { Accept: 'application/json', 'Accept-Encoding': 'identity', 'X-API-KEY': 'key' };

describe.each(['a key', 'a key function'])('with %s', (kind) => {
  const key = kind === 'a key' ? 'key' : () => 'key';

  it.each([
    [undefined, {}],
    ['iv', { 'X-AUTH-IV': 'iv' }],
  ])('and the IV %p, every request has exactly the headers of the interface', async (authIv, ivHeaders) => {
    const { client, sent } = clientWith(NO_REPLY, { apiKey: key, baseUrl: 'http://service/base/' });
    await client.userDetails({ token: 'token', authIv }, deadline);
    await client.signIn({ username: 'ann', password: 'secret' }, authIv, deadline).catch(() => undefined);
    await client.signOut({ token: 'token', authIv }, deadline).catch(() => undefined);
    expect(sent.map(({ method, path, freshConnection }) => [method, path, freshConnection])).toEqual([
      ['GET', '/base/authentication/user_details', false],
      ['POST', '/base/authentication', true],
      ['DELETE', '/base/authentication', true],
    ]);
    expect(sent.map(({ headers }) => headers)).toStrictEqual([
      { ...always, 'X-AUTH-TOKEN': 'token', ...ivHeaders },
      { ...always, 'Content-Type': 'application/json', ...ivHeaders },
      { ...always, 'X-AUTH-TOKEN': 'token', ...ivHeaders },
    ]);
    expect(sent.map(({ body }) => body)).toEqual([null, '{"username":"ann","password":"secret"}', null]);
  });
});

describe('a key function', () => {
  it.each<[string, ApiKey]>([
    ...['with space', 'k'.repeat(4_097), 7 as unknown as string].map((key): [string, ApiKey] => [
      'returns an invalid key',
      () => key,
    ]),
    [
      'throws',
      () => {
        throw new Error('no key');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no key'))],
  ])('that %s results in no reply', async (_name, apiKey) => {
    const { client, sent } = clientWith(NO_REPLY, { apiKey });
    expect(await client.userDetails(session, deadline)).toMatchObject({ reason: 'api_key' });
    expect(sent).toEqual([]);
  });

  it.each([
    ['timeout', 'api_key'],
    ['shutting_down', 'shutting_down'],
  ] as const)(
    'that never returns does not delay a call beyond its deadline (%s), whose reason is %s',
    async (end, reason) => {
      const { client, sent } = clientWith(NO_REPLY, { apiKey: () => new Promise(() => undefined) });
      const callDeadline = new Deadline(60_000);
      const answer = client.userDetails(session, callDeadline);
      callDeadline.end(end);
      expect(await answer).toMatchObject({ reason });
      expect(sent).toEqual([]);
    },
  );

  it('may return a key of 4096 bytes', async () => {
    const { client, sent } = clientWith(NO_REPLY, { apiKey: () => 'k'.repeat(4_096) });
    await client.userDetails(session, deadline);
    expect(sent).toHaveLength(1);
  });
});

describe('a check that is answered with the record of another token', () => {
  it('is unavailable, and later calls have new connections', async () => {
    const { client, renewals } = clientWith(reply(200, '{"username":"ann","auth_token":"other"}'));
    expect(await client.userDetails(session, deadline)).toEqual(unavailable('malformed'));
    expect(renewals()).toBe(1);
  });
});
