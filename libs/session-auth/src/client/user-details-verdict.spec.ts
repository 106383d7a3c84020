import { describe, expect, it } from '@jest/globals';
import { FORBIDDEN, UNAUTHENTICATED, unavailable } from '../contract/outcome.js';
import type { ReadUser, UserRecord } from '../contract/record/user-record.js';
import { type Answer, type Reply, STALE_CONNECTION } from './reply.js';
import { reply as replyWith, SILENT } from '../../../../test/support/service-requests.js';
import {
  type ReplyReader,
  type ReplyReports,
  verdictOf,
  type VerdictSettings,
} from './user-details-verdict.js';

/** Reports that are kept in a list. */
function reporting(): { readonly reported: unknown[][]; readonly reports: ReplyReports } {
  const reported: unknown[][] = [];
  return { reported, reports: { ...SILENT, occurred: (...report) => void reported.push(report) } };
}

const noUser: ReadUser<UserRecord> = () => undefined;
const anyUser: ReadUser<UserRecord> = () => ({});
const failing = (): never => {
  throw new Error('of the application');
};

function verdictsWith(
  settings: Partial<VerdictSettings> = {},
  readUser: ReadUser<UserRecord> = (json) => json,
  reports = SILENT,
  renew: () => void = () => undefined,
) {
  const parts = { readUser, reports, renew };
  const reader: ReplyReader<UserRecord> = { statusMap: {}, tokenEcho: 'deny', ...settings, ...parts };
  return { of: (answer: Answer, token: string) => verdictOf(answer, token, reader) };
}

const reply = (status: number, body = '', headers?: Reply['headers']): Reply =>
  replyWith(status, body, headers);

describe('the user of a 200', () => {
  it.each<[string, string, ReadUser<UserRecord>, object, unusable: number]>([
    [
      'is read together with its body',
      '{"a":1}',
      anyUser,
      { kind: 'authenticated', user: {}, json: { a: 1 } },
      0,
    ],
    ['is reported by its reader alone if that refuses it', '{"a":1}', noUser, unavailable('malformed'), 0],
    ['makes its reply unusable if that has no JSON', 'text', anyUser, unavailable('malformed'), 1],
    ['makes its reply unusable if its reader throws', '{"a":1}', failing, unavailable('malformed'), 1],
  ])('%s', (_name, body, read, verdict, unusable) => {
    const { reported, reports } = reporting();
    expect(verdictsWith({}, read, reports).of(reply(200, body), 'token')).toEqual(verdict);
    const lines = [
      '200 without a JSON object in UTF-8',
      '200 with a record by which code of userRecord threw an error',
    ].map((what) => ['unusable reply', 'checks', what, 'checks', expect.any(String)]);
    expect(reported).toEqual(unusable === 1 ? [lines[body === 'text' ? 0 : 1]] : []);
  });

  it.each([
    ['gzip', 'gzip'],
    ['gzip, br', 'an unknown one'],
    ['x'.repeat(21), 'an unknown one'],
  ])('that is encoded as %p is reported by its encoding [P65]', (encoding, named) => {
    const { reported, reports } = reporting();
    const encoded = { status: 200, headers: { 'content-encoding': encoding }, body: undefined };
    expect(verdictsWith({}, anyUser, reports).of(encoded, 'token')).toEqual(unavailable('malformed'));
    expect(reported).toEqual([
      [
        'unusable reply',
        'checks',
        `200 with Content-Encoding: ${named}`,
        'checks',
        expect.stringContaining('identity'),
      ],
    ]);
  });
});

describe('the line about a reply', () => {
  const html = { 'content-type': 'text/html; charset=utf-8' };
  const page = '<!doctype html>';

  it.each<[string, Reply, string, string]>([
    ['of another server', reply(200, page, html), '200 with the content-type text/html', 'baseUrl'],
    ['without a body', reply(200), '200 without a body', 'baseUrl'],
    ['that is a list', reply(200, '[]'), '200 without a JSON object in UTF-8', 'no option maps'],
    [
      'that is too long',
      { ...reply(200), body: undefined },
      '200 with a body longer than http.maxResponseBytes',
      'raise that limit',
    ],
    [
      'with another transfer coding',
      { ...reply(200, '', { 'transfer-encoding': 'gzip, chunked' }), body: undefined },
      '200 with a Transfer-Encoding other than chunked',
      'encodes these replies',
    ],
    ['that redirects', reply(302), '302', 'No redirect is followed'],
    ['of a proxy that wants credentials', reply(407), '407', 'http.proxy'],
    ['that no option maps', reply(422), '422', 'No option maps this status'],
    ['that statusMap maps', reply(400), "400 ('unavailable' by statusMap)", 'apiKey and baseUrl'],
    ['that refuses users', reply(403), 'checks', "{ 403: 'unauthenticated' }"],
  ])('%s has the real status first, and names what fits it [P49]', (_what, answer, what, remedy) => {
    const { reported, reports } = reporting();
    verdictsWith({ statusMap: { 400: 'unavailable' } }, undefined, reports).of(answer, 'token');
    expect(reported).toHaveLength(1);
    expect(reported[0]?.[2]).toMatch(new RegExp(`^${what.replace(/[()]/g, '\\$&')}`));
    expect(reported[0]?.at(-1)).toContain(remedy);
  });

  it('that is no user names the call, the status, the field and what it must be', () => {
    const { reported, reports } = reporting();
    const refusing: ReadUser<UserRecord> = (_json, report) =>
      report?.('role', 'role must be a string') as undefined;
    verdictsWith({}, refusing, reports).of(reply(200, '{}'), 'token');
    expect(reported).toEqual([
      [
        'invalid user record',
        'role',
        'user_details answered 200',
        'role must be a string',
        expect.stringContaining('userRecord'),
      ],
    ]);
  });
});

describe('the token of a 200', () => {
  const same = '{"auth_token":"token"}';
  const other = '{"auth_token":"other"}';

  it.each([
    ['the presented one', 'deny', same, 'authenticated', 0],
    ['absent', 'deny', '{}', 'authenticated', 0],
    ['another', 'deny', other, 'unavailable', 1],
    ['another', 'warn', other, 'authenticated', 1],
    ['another', 'ignore', other, 'authenticated', 0],
    ['null', 'deny', '{"auth_token":null}', 'unavailable', 1],
    ['empty', 'deny', '{"auth_token":""}', 'unavailable', 1],
  ] as const)(
    'that is %s (tokenEcho %j, %s) is %s, with %i reports, and new connections if it denies',
    (_name, tokenEcho, body, kind, times) => {
      const { reported, reports } = reporting();
      let renewed = 0;
      const renew = (): unknown => (renewed += 1);
      const verdict = verdictsWith({ tokenEcho }, undefined, reports, renew).of(reply(200, body), 'token');
      expect([verdict.kind, reported]).toEqual([kind, Array(times).fill(['token mismatch'])]);
      expect(renewed).toBe(kind === 'unavailable' ? 1 : 0);
    },
  );
});

describe('Cache-Control', () => {
  const cache = { ttlMs: 60_000, negativeTtlMs: 5_000 };
  const forTwoSeconds = { 'cache-control': 'max-age=2' };

  it('shortens the cache lifetime of a session and of a refusal', () => {
    const verdicts = verdictsWith({ cache });
    expect(verdicts.of(reply(200, '{}', forTwoSeconds), 'token')).toMatchObject({
      kind: 'authenticated',
      cacheForMs: 2_000,
    });
    for (const status of [400, 401, 404]) {
      expect(verdicts.of(reply(status, '', forTwoSeconds), 'token')).toEqual({
        kind: 'unauthenticated',
        cacheForMs: 2_000,
      });
    }
  });

  it('does not change the verdict if absent, without a lifetime, with a longer one, or with the cache off', () => {
    const [plain, longer] = [{ 'cache-control': 'private' }, { 'cache-control': 'max-age=3600' }];
    const cases = [{}, plain, longer].map((headers) => [{ cache }, headers] as const);
    for (const [settings, headers] of [...cases, [{}, forTwoSeconds] as const]) {
      const verdicts = verdictsWith(settings);
      const user = { kind: 'authenticated', user: {}, json: {} };
      expect(verdicts.of(reply(200, '{}', headers), 'token')).toStrictEqual(user);
      expect(verdicts.of(reply(401, '', headers), 'token')).toBe(UNAUTHENTICATED);
    }
  });

  it.each([
    ['a valid session that must not be cached', 200, 'no-store', { cache }, 1],
    ['a valid session with a lifetime of 0', 200, 'max-age=0', { cache }, 1],
    ['a refusal', 401, 'no-store', { cache }, 0],
    ['a shorter lifetime', 200, 'max-age=1', { cache }, 0],
    ['a valid session with the cache off', 200, 'no-store', {}, 0],
  ])('of %s (%i %s, %j) is reported %i times', (_name, status, control, settings, times) => {
    const { reported, reports } = reporting();
    verdictsWith(settings, undefined, reports).of(reply(status, '{}', { 'cache-control': control }), 'token');
    expect(reported).toEqual(Array(times).fill(['caching forbidden']));
  });
});

describe('a call without a reply', () => {
  it('keeps its reason, and whether its connection was stale', () => {
    expect(verdictsWith().of(STALE_CONNECTION, 'token')).toEqual({
      ...unavailable('unreachable'),
      staleConnection: true,
    });
    expect(verdictsWith().of(unavailable('timeout'), 'token')).toStrictEqual(unavailable('timeout'));
  });
});

describe('a documented refusal', () => {
  it.each([
    [
      '404 with a body is unauthenticated if statusMap says so',
      404,
      'not found',
      { 404: 'unauthenticated' },
      UNAUTHENTICATED,
    ],
    ['404 is forbidden if statusMap says so', 404, '', { 404: 'forbidden' }, FORBIDDEN],
    [
      '401 is an outage if statusMap says so',
      401,
      '',
      { 401: 'unavailable' },
      unavailable('unexpected_status'),
    ],
    ['401 with a user is unauthenticated', 401, '{"auth_token":"token"}', {}, UNAUTHENTICATED],
    ['403 with a user is forbidden', 403, '{"auth_token":"token"}', {}, FORBIDDEN],
  ] as const)('%s', (_name, status, body, statusMap, verdict) => {
    expect(verdictsWith({ statusMap }).of(reply(status, body), 'token')).toEqual(verdict);
  });

  it.each<[string, Reply, boolean]>([
    ['a 404 with a body', reply(404, 'not found'), true],
    ['a 404 with a body that may not be read', { ...reply(404), body: undefined }, true],
    ['a 404 without a body', reply(404), false],
    ['a 401 with a body', reply(401, 'unauthorized'), false],
  ])('reports an unexpected reply only if it is one: %s', (_name, answer, isUnexpected) => {
    const { reported, reports } = reporting();
    const verdict = verdictsWith({}, undefined, reports).of(answer, 'token');
    expect(verdict).toEqual(isUnexpected ? unavailable('unexpected_status') : UNAUTHENTICATED);
    const remedy: unknown = expect.stringContaining('404: ');
    const report = ['unexpected reply', 'checks', '404 with a body', 'checks', remedy];
    expect(reported).toEqual(isUnexpected ? [report] : []);
  });
});

describe('any other status', () => {
  it.each([
    [429, 'rate_limited'],
    [500, 'server_error'],
    [302, 'unexpected_status'],
    [202, 'unexpected_status'],
  ] as const)('%i is an outage, even with a user: %s', (status, reason) => {
    const answer = reply(status, '{"auth_token":"token"}', { 'retry-after': '7' });
    expect(verdictsWith().of(answer, 'token')).toEqual(unavailable(reason, 7));
  });
});
