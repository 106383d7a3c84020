import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { partsWith } from '../../../../test/support/session-parts.js';
import { SESSION_REJECTED } from '../contract/denials.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import type { GuardDenial } from '../guard/denial.js';
import { fromHeader, type TokenSource } from '../guard/token-source.js';
import { handshakeRequest } from '../kinds/handshake-request.js';
import { WatchedSockets, whenAdmitted } from './watched-sockets.js';

const TTL_MS = 60_000;
const TOKEN = { 'x-auth-token': 'token' };

afterEach(() => void jest.restoreAllMocks());

/** A registration whose service answers when the test does, and the tokens that the service got. */
function registration() {
  const tokens: string[] = [];
  const contexts: ExecutionContext[] = [];
  const calls: ((verdict: Verdict<UserRecord>) => void)[] = [];
  const ask = ({ token }: { token: string }): Promise<Verdict<UserRecord>> => {
    tokens.push(token);
    return new Promise((resolve) => calls.push(resolve));
  };
  const own: TokenSource = (context) => void contexts.push(context);
  const parts = partsWith(ask, {
    cache: { ttlMs: TTL_MS },
    sources: [own, fromHeader('x-auth-token')],
  });
  const answer = async (
    verdict: Verdict<UserRecord> = { kind: 'authenticated', user: { username: 'ann' } },
  ) => {
    for (const call of calls.splice(0)) call(verdict);
    await new Promise(setImmediate);
  };
  return { parts, tokens, contexts, answer };
}

/** The sockets of an application, and how a handshake of a client ends there. */
function application() {
  const own = registration();
  const sockets = new WatchedSockets(own.parts);
  const handshake = (client: object = {}, headers: Record<string, string> = TOKEN, options = {}) => {
    const denials: GuardDenial[] = [];
    const admitted: unknown[] = [];
    const request = handshakeRequest({ headers });
    const deny = (denial: GuardDenial): void => void denials.push(denial);
    const watched = sockets.watch({ client, request, options, deny });
    if (watched) whenAdmitted(watched, () => admitted.push(watched.user));
    return { watched, denials, admitted };
  };
  return { own, sockets, handshake };
}

/** Returns an open socket of ws. */
const socket = () =>
  Object.assign(new EventEmitter(), {
    readyState: 1,
    closings: [] as unknown[],
    close(code: number, reason: string): void {
      this.closings.push([code, reason]);
    },
  });

describe('the handshakes of an application', () => {
  it('are calls in a context of their client for the token sources of an application', () => {
    const { own, handshake } = application();
    const client = {};
    handshake(client, {});
    const [context] = own.contexts;
    expect([context?.getType(), context?.getArgs(), own.contexts.length]).toEqual([
      'ws',
      [client, undefined, 'connection'],
      1,
    ]);
    expect(context?.switchToWs().getClient()).toBe(client);
    expect(context?.switchToWs().getPattern()).toBe('connection');
  });

  it('wait for their verdict, and are denied by it', async () => {
    const { own, sockets, handshake } = application();
    const { admitted, denials } = handshake();
    expect(sockets.count()).toEqual({ watched: 0, waiting: 1 });
    await own.answer(unavailable('server_error', 9));
    expect([admitted, denials, sockets.count()]).toMatchObject([
      [],
      [{ statusCode: 503, reason: 'server_error', retryAfterSeconds: 9 }],
      { watched: 0, waiting: 0 },
    ]);
  });

  it.each<[Verdict<UserRecord>, unknown[], unknown[]]>([
    [{ kind: 'authenticated', user: { username: 'ann' } }, [{ username: 'ann' }], []],
    [UNAUTHENTICATED, [], [SESSION_REJECTED]],
  ])('of a cached session are settled at once: $kind', async (verdict, users, denied) => {
    const { own, handshake } = application();
    handshake();
    await own.answer(verdict);
    const { admitted, denials } = handshake({}, TOKEN, { outageGraceMs: 0 });
    expect([admitted, denials, own.tokens]).toEqual([users, denied, ['token']]);
  });

  it.each([
    [0, [], [{ statusCode: 503, code: 'SESSION_SERVICE_UNAVAILABLE', reason: 'unreachable' }]],
    [1_000, [{ username: 'ann' }], []],
  ])(
    'of a stale session are settled as an outage, with a grace of %i ms',
    async (outageGraceMs, users, denied) => {
      const { own, handshake } = application();
      handshake();
      await own.answer();
      for (const clock of [performance, Date]) {
        const now = clock.now.bind(clock);
        jest.spyOn(clock, 'now').mockImplementation(() => now() + TTL_MS);
      }
      const { admitted, denials } = handshake({}, TOKEN, { outageGraceMs });
      await own.answer(unavailable('server_error'));
      expect([admitted, denials]).toMatchObject([users, denied]);
    },
  );

  it('are not admitted if their session ends right after the verdict', async () => {
    const { own, sockets } = application();
    const denials: unknown[] = [];
    const admit = jest.fn();
    const watched = sockets.watch({
      client: {},
      request: handshakeRequest({ headers: TOKEN }),
      options: {},
      deny: (denial) => denials.push(denial),
    });
    void Promise.resolve(watched?.confirm()).then(() => watched?.end(SESSION_REJECTED));
    if (watched) whenAdmitted(watched, admit);
    await own.answer();
    expect([denials, admit.mock.calls]).toEqual([[SESSION_REJECTED], []]);
  });
});

describe('a watched socket', () => {
  it('is closed when its session ends, and is not known before it opens, nor after its end', async () => {
    const { own, sockets, handshake } = application();
    const client = socket();
    expect(sockets.watchedOf(client)).toBeUndefined();
    const { watched, denials } = handshake(client);
    await own.answer();
    if (watched) sockets.open(client, watched);
    expect(sockets.watchedOf(client)).toBe(watched);
    watched?.end(SESSION_REJECTED);
    expect([client.closings, denials, sockets.watchedOf(client), sockets.count()]).toEqual([
      [[4401, 'SESSION_REJECTED']],
      [],
      undefined,
      { watched: 0, waiting: 0 },
    ]);
  });
});
