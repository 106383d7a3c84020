import { describe, expect, it } from '@jest/globals';
import { unavailable } from '../contract/outcome.js';
import { Deadline } from './deadline.js';
import type { ServiceRequest } from './connections.js';
import type { Answer } from './reply.js';
import { SessionClient } from './session-client.js';

/** Returns a client and the requests that it sends. */
function clientWith(apiKey: string | (() => string | Promise<string>) = 'key') {
  const sent: ServiceRequest[] = [];
  const send = (request: ServiceRequest): Promise<Answer> => {
    sent.push(request);
    return Promise.resolve(unavailable('unreachable'));
  };
  const settings = { baseUrl: 'http://service/base/', apiKey, http: { maxTokenLength: 100 } } as const;
  const verdicts = { statusMap: {}, tokenEcho: 'deny' } as const;
  const client = new SessionClient(
    { send, renew: () => undefined },
    { ...settings, ...verdicts },
    () => undefined,
    {} as never,
  );
  return { sent, client };
}

const always = ['Accept', 'application/json', 'Accept-Encoding', 'identity', 'X-API-KEY', 'key'];
const deadline = new Deadline(60_000);
deadline.clear();

describe.each(['a key', 'a key function'])('with %s', (kind) => {
  const key = kind === 'a key' ? 'key' : () => 'key';

  it.each([
    [undefined, []],
    ['iv', ['X-AUTH-IV', 'iv']],
  ])('and the IV %p, every request has exactly the headers of the interface', async (authIv, ivHeaders) => {
    const { client, sent } = clientWith(key);
    await client.userDetails({ token: 'token', authIv }, deadline);
    await client.signIn({ username: 'ann', password: 'secret' }, authIv, deadline).catch(() => undefined);
    await client.signOut({ token: 'token', authIv }, deadline).catch(() => undefined);
    expect(sent.map(({ method, path, freshConnection }) => [method, path, freshConnection])).toEqual([
      ['GET', '/base/authentication/user_details', false],
      ['POST', '/base/authentication', true],
      ['DELETE', '/base/authentication', true],
    ]);
    expect(sent.map(({ headers }) => Object.entries(headers).flat())).toEqual([
      [...always, 'X-AUTH-TOKEN', 'token', ...ivHeaders],
      [...always, 'Content-Type', 'application/json', ...ivHeaders],
      [...always, 'X-AUTH-TOKEN', 'token', ...ivHeaders],
    ]);
    expect(sent.map(({ body }) => body)).toEqual([null, '{"username":"ann","password":"secret"}', null]);
  });
});

describe('a key function', () => {
  it.each(['', 'with space', 'k'.repeat(4_097), 7 as unknown as string])(
    'that returns an invalid key results in no reply',
    async (key) => {
      const { client, sent } = clientWith(() => key);
      expect(await client.userDetails({ token: 'token', authIv: undefined }, deadline)).toMatchObject({
        reason: 'api_key',
      });
      expect(sent).toEqual([]);
    },
  );

  it.each<[string, () => string | Promise<string>]>([
    [
      'throws',
      () => {
        throw new Error('no key');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no key'))],
  ])('that %s results in no reply', async (_name, key) => {
    const { client, sent } = clientWith(key);
    expect(await client.userDetails({ token: 'token', authIv: undefined }, deadline)).toMatchObject({
      reason: 'api_key',
    });
    expect(sent).toEqual([]);
  });

  it.each([
    ['timeout', 'timeout'],
    ['shutting_down', 'shutting_down'],
  ] as const)('that never returns does not delay a call beyond its deadline (%s)', async (end, reason) => {
    const { client, sent } = clientWith(() => new Promise(() => undefined));
    const callDeadline = new Deadline(60_000);
    const answer = client.userDetails({ token: 'token', authIv: undefined }, callDeadline);
    callDeadline.end(end);
    expect(await answer).toMatchObject({ reason });
    expect(sent).toEqual([]);
  });

  it('may return a key of 4096 bytes', async () => {
    const { client, sent } = clientWith(() => 'k'.repeat(4_096));
    await client.userDetails({ token: 'token', authIv: undefined }, deadline);
    expect(sent).toHaveLength(1);
  });
});
