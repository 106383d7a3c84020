import { EventEmitter } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { Deadlines } from '../client/deadline.js';
import { SESSION_REJECTED } from '../contract/denials.js';
import type { Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import type { Authorities, GuardParts } from '../guard/guard-parts.js';
import { SessionReader } from '../guard/session-reader.js';
import { fromHeader } from '../guard/token-source.js';
import { handshakeRequest } from '../guard/http-request.js';
import { Lanes } from '../verifier/lanes.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import { EventSource, sessionEnds } from '../module/events/event-source.js';
import { ApplicationSockets } from './application-sockets.js';
import { RegistrationSockets } from './registration-sockets.js';

const SETTINGS = { recheckMs: 60_000, outageGraceMs: 1 };
const LIMITS = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };
const SESSION = { token: 'token', authIv: undefined };
const REQUEST = handshakeRequest({ headers: { 'x-auth-token': 'token' } });

/** The sockets of a registration, whose service knows one user, and the tokens that the service got. */
function registration(
  username: string,
  authorities?: Authorities,
): { sockets: RegistrationSockets; tokens: string[] } {
  const tokens: string[] = [];
  const ask = ({ token }: { token: string }): Promise<Verdict<UserRecord>> => {
    tokens.push(token);
    return Promise.resolve({ kind: 'authenticated', user: { username } });
  };
  const source = new EventSource();
  const verifier = new SessionVerifier(new Lanes(ask, new Deadlines(), LIMITS));
  const reader = new SessionReader({
    sources: [fromHeader('x-auth-token')],
    forwardAuthIv: false,
    maxTokenLength: 100,
  });
  const parts = {
    verifier,
    reader,
    authority: username,
    authorities,
    ends: sessionEnds(source, verifier),
  } as unknown as GuardParts;
  return { tokens, sockets: RegistrationSockets.of(parts) };
}

/** The sockets of an application with a selection, and how a handshake of a client ends there. */
function application(
  select?: (own: RegistrationSockets, other: RegistrationSockets) => RegistrationSockets | undefined,
  arePerCall = true,
) {
  const partsOf = jest.fn<Authorities['partsOf']>(() => select?.(own.sockets, other.sockets)?.parts);
  const other = registration('bob');
  const own = registration('ann', select && ({ arePerCall, partsOf } as unknown as Authorities));
  const sockets = new ApplicationSockets(own.sockets.parts);
  const handshake = async (client: object) => {
    const settled: unknown[][] = [];
    const pending = sockets.begin({
      client,
      request: REQUEST,
      settings: SETTINGS,
      settle: (...outcome) => settled.push(outcome),
    });
    await new Promise(setImmediate);
    return { pending, settled };
  };
  return { own, other, partsOf, sockets, handshake };
}

/** Returns an open socket of ws. */
const socket = () => Object.assign(new EventEmitter(), { readyState: 1 });

describe('the handshakes of an application', () => {
  it.each<[string, Parameters<typeof application>]>([
    ['that has one registration', []],
    ['whose option authority does not select for each call', [(_own, other) => other, false]],
    ['whose option authority selects the registration without a name', [(own) => own]],
  ])('%s are checked by it', async (_which, parameters) => {
    const { own, other, handshake } = application(...parameters);
    const { pending, settled } = await handshake({});
    expect(pending).toBeDefined();
    expect(settled).toEqual([
      [{ session: SESSION, verdict: expect.objectContaining({ user: { username: 'ann' } }) }, own.sockets],
    ]);
    expect([own.tokens, other.tokens]).toEqual([['token'], []]);
  });

  it('are checked by the registration that its option authority selects for the connection', async () => {
    const { own, other, partsOf, handshake } = application((_own, other) => other);
    const client = {};
    expect((await handshake(client)).settled).toMatchObject([
      [{ verdict: { user: { username: 'bob' } } }, other.sockets],
    ]);
    expect([own.tokens, other.tokens]).toEqual([[], ['token']]);
    const [context, ...others] = partsOf.mock.calls[0] as [ExecutionContext, unknown, unknown];
    expect([context.getType(), context.switchToWs().getClient(), ...others]).toEqual([
      'ws',
      client,
      REQUEST,
      own.sockets.parts,
    ]);
  });

  it.each<[string, (own: RegistrationSockets) => RegistrationSockets | undefined]>([
    ['without a registration', () => undefined],
    [
      'of a registration by an older copy of this package, which shares no ends',
      ({ parts }) => ({ parts: { reader: parts.reader } }) as never,
    ],
  ])('are denied %s, and their token is not read', async (_which, select) => {
    const { own, other, handshake } = application(select);
    expect(await handshake({})).toEqual({ pending: undefined, settled: [[SESSION_REJECTED, own.sockets]] });
    expect([own.tokens, other.tokens]).toEqual([[], []]);
  });
});

describe('a watched socket', () => {
  it('belongs to the registration that has checked it', () => {
    const { own, other, sockets } = application((_own, other) => other);
    const [client, ofOwn] = [socket(), socket()];
    const watched = sockets.watch(other.sockets, client, SESSION, SETTINGS);
    sockets.watch(own.sockets, ofOwn, SESSION, SETTINGS);
    expect([sockets.own, sockets.watchedOf(client), other.sockets.watched.of(client)]).toEqual([
      own.sockets,
      watched,
      watched,
    ]);
    expect(own.sockets.watched.of(client)).toBeUndefined();
    expect(sockets.ownerOf(client)).toMatch(/^[0-9a-f]{32}$/);
    expect(sockets.ownerOf(client)).toBe(other.sockets.watched.ownerOf(client));
    expect(sockets.ownerOf(client)).not.toBe(sockets.ownerOf(ofOwn));
  });

  it('is not known before, and no longer once it has ended', () => {
    const { own, sockets } = application();
    const client = socket();
    expect([sockets.watchedOf(client), sockets.ownerOf(client)]).toEqual([undefined, undefined]);
    sockets.watch(own.sockets, client, SESSION, SETTINGS).stop();
    expect([sockets.watchedOf(client), sockets.ownerOf(client)]).toEqual([undefined, undefined]);
  });
});
