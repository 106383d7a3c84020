import { describe, expect, it } from '@jest/globals';
import { json, reply, silence, startSessionService, type Script } from 'nestjs-session-auth/testing';
import { RedisServer } from '../support/redis.js';
import { startHeapApp, type HeapApp } from './heap-app.js';

const CANARY = 'canary-token';
const ROUNDS = 3;
const CACHE = { ttlMs: 300_000, refreshAheadMs: 1_000, staleIfErrorMs: 60_000 };

/** The outcome of a token depends on its name. */
const ANSWERS: readonly (readonly [part: string, answerOf: (token: string) => Script])[] = [
  ['refused', () => reply(401)],
  ['forbidden', () => reply(403)],
  ['broken', (token) => reply(200, `{"auth_token":"${token}"`)],
  ['failing', (token) => reply(500, `no session ${token}`)],
  ['silent', () => silence],
  ['stranger', (token) => json({ username: 'bob', role: 'new_hire', auth_token: token })],
  ['', (token) => json({ username: 'ann', role: 'hiring_manager', auth_token: token })],
];

const service: Script = (request, response, socket) => {
  const token = String(request.headers['x-auth-token'] ?? `${CANARY}-signed-in`);
  const [, answerOf] = ANSWERS.find(([part]) => token.includes(part)) ?? [];
  setImmediate(() => answerOf?.(token)(request, response, socket));
};

const KINDS = ['accepted', 'stranger', 'refused', 'forbidden', 'broken', 'failing', 'signed-out'] as const;

/** Where a request can carry a token; a string that V8 makes of a part of a header holds the whole header. */
const placesOf = (token: string): Record<string, string>[] => [
  { 'x-auth-token': token },
  { authorization: `Bearer ${token}` },
  { cookie: `a=b; session=${token}; c=d` },
];

/** Requests whose connections end with them: Node.js keeps the last request of a connection that stays. */
async function use({ url }: HeapApp): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  const ask = async (
    kind: string,
    path: string,
    headers: Record<string, string>,
    init: RequestInit = {},
  ): Promise<void> => {
    const { status } = await fetch(`${url}${path}`, {
      ...init,
      headers: { connection: 'close', ...headers },
    });
    statuses[`${kind} ${status}`] = (statuses[`${kind} ${status}`] ?? 0) + 1;
  };
  const each = async (kind: string, path: string, init?: RequestInit): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const token = `${CANARY}-${kind}-${round}`;
      const places = placesOf(token);
      const first = places[round % places.length] ?? {};
      await Promise.all([first, ...places].map((headers) => ask(kind, path, headers, init)));
    }
  };
  for (const kind of KINDS) await Promise.all(['/me', '/hm', '/fresh'].map((path) => each(kind, path)));
  await each('signed-out', '/logout', { method: 'DELETE' });
  // No later answer of the service replaces the entry that the first request finds in a store.
  for (let round = 0; round < ROUNDS; round += 1)
    await ask('stored', '/me', placesOf(`${CANARY}-stored-${round}`)[round] ?? {});
  await ask('silent', '/me', { 'x-auth-token': `${CANARY}-silent` });
  const credentials = { username: 'ann', password: `${CANARY}-password` };
  await ask(
    'sign-in',
    '/login',
    { 'content-type': 'application/json' },
    { method: 'POST', body: JSON.stringify(credentials) },
  );
  return statuses;
}

describe('the memory of a process', () => {
  // With a store, an application has all that it has with the cache on.
  it('has no token but in the private field of a cached record, with the cache on and a store [P15]', async () => {
    const [scripted, server] = [await startSessionService(), await RedisServer.start()];
    for (const operation of ['user_details', 'sign_in'] as const) scripted.on(operation, service);
    const options = { timeoutMs: 3_000, maxInFlight: 8, breaker: false, cache: CACHE } as const;
    const start = (): Promise<HeapApp> =>
      startHeapApp({ baseUrl: scripted.url, options, redisPort: server.port });
    const [app, other] = [await start(), await start()];
    try {
      // The other instance finds the entry of the first in the store.
      await use(other);
      expect(await use(app)).toMatchObject({
        'sign-in 200': 1,
        'stranger 403': 4 * ROUNDS,
        'stored 200': ROUNDS,
        'refused 401': 12 * ROUNDS,
        'silent 503': 1,
      });
      await scripted.close();
      const retained = await app.retained(CANARY);
      const cached = retained.filter(({ value }) =>
        /^canary-token-(accepted|stranger|stored)-\d$/.test(value),
      );
      expect(retained.filter((one) => !cached.includes(one))).toEqual([]);
      expect(cached.length).toBe(3 * ROUNDS);
      for (const { retainers } of cached)
        expect(retainers).toEqual([
          expect.stringMatching(/^(property|internal) #token of object (UserRecord|derived)$/),
        ]);
    } finally {
      await app.close();
      await other.close();
      await scripted.close();
      await server.close();
    }
  });
});
