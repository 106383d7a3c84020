import { EventEmitter } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import { Deadlines } from '../client/deadline.js';
import { ACCESS_DENIED, SESSION_REJECTED } from '../contract/denials.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { tokenKeyOf } from '../contract/session-identity.js';
import type { GuardParts } from '../guard/guard-parts.js';
import { SessionReader } from '../guard/session-reader.js';
import { fromHeader } from '../guard/token-source.js';
import { handshakeRequest } from '../guard/http-request.js';
import { Lanes } from '../verifier/lanes.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import { EventSource, sessionEnds } from '../module/events/event-source.js';
import { RegistrationSockets } from './registration-sockets.js';

const SETTINGS = { recheckMs: 60_000, outageGraceMs: 1 };
const LIMITS = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };

/** An open socket of ws. */
class Socket extends EventEmitter {
  readyState = 1;
  readonly closings: unknown[] = [];
  close(code: number): void {
    this.closings.push(code);
  }
}

/**
 * The sockets of a registration, whose service answers with the verdict that the test sets for a token; with
 * its user otherwise.
 */
function registration() {
  const answers = new Map<string, Verdict<UserRecord>>();
  const ask = ({ token }: { token: string }): Promise<Verdict<UserRecord>> =>
    Promise.resolve(answers.get(token) ?? { kind: 'authenticated', user: { username: token.split('-')[0] } });
  const source = new EventSource();
  const verifier = new SessionVerifier(new Lanes(ask, new Deadlines(), LIMITS));
  const reader = new SessionReader({
    sources: [fromHeader('x-auth-token')],
    forwardAuthIv: false,
    maxTokenLength: 100,
  });
  const own = RegistrationSockets.of({
    verifier,
    reader,
    ends: sessionEnds(source, verifier),
  } as unknown as GuardParts);
  const open = async (token: string): Promise<Socket> => {
    const client = new Socket();
    await own.watched.add(client, { token, authIv: undefined }, SETTINGS).start();
    return client;
  };
  const handshake = (token: string): unknown[] => {
    const outcomes: unknown[] = [];
    const request = handshakeRequest({ headers: { 'x-auth-token': token } });
    own.checks.begin({
      client: {},
      request,
      settings: SETTINGS,
      settle: (outcome) => outcomes.push(outcome),
    });
    return outcomes;
  };
  const verify = (token: string): unknown => verifier.verify({ token, authIv: undefined });
  return { answers, own, source, open, handshake, verify };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('a session that is revoked', () => {
  it('ends its sockets and its waiting handshakes at once, and no others', async () => {
    const { own, source, open, handshake } = registration();
    const [first, second, other] = [await open('ann-1'), await open('ann-1'), await open('ann-2')];
    const [waiting, otherWaiting] = [handshake('ann-1'), handshake('ann-2')];
    source.emitEnded(tokenKeyOf('ann-1'));
    expect([first, second, other].map(({ closings }) => closings)).toEqual([[4401], [4401], []]);
    expect([waiting, otherWaiting, own.watched.index.size]).toEqual([[SESSION_REJECTED], [], 1]);
  });
});

describe('the revocation of a user', () => {
  it('closes the open sockets of the user, and no others', async () => {
    const { source, open } = registration();
    const sockets = [await open('ann-1'), await open('bob-1'), await open('ann-2')];
    source.forgottenUsers.next('ann');
    expect(sockets.map(({ closings }) => closings)).toEqual([[4401], [], [4401]]);
  });

  it('does not close a socket that has no verdict yet, because its check is repeated instead', async () => {
    const { own, source, open } = registration();
    const client = new Socket();
    const watched = own.watched.add(client, { token: 'ann-1', authIv: undefined }, SETTINGS);
    const socket = await open('ann-2');
    source.forgottenUsers.next('ann');
    expect([await watched.start(), client.closings, socket.closings]).toEqual([
      { username: 'ann' },
      [],
      [4401],
    ]);
  });

  it('closes every socket, if it is of every user', async () => {
    const { own, source, open } = registration();
    const sockets = [await open('ann-1'), await open('bob-1')];
    source.forgottenUsers.next(undefined);
    expect([sockets.map(({ closings }) => closings), own.watched.index.size]).toEqual([[[4401], [4401]], 0]);
  });
});

describe('a refusal by the service', () => {
  it.each<[Verdict<UserRecord>, number, object]>([
    [UNAUTHENTICATED, 4401, SESSION_REJECTED],
    [FORBIDDEN, 4403, ACCESS_DENIED],
  ])(
    'ends the sockets of its session after the denial of its own call: $kind',
    async (verdict, code, denial) => {
      const { answers, own, open, handshake, verify } = registration();
      const [socket, other] = [await open('ann-1'), await open('ann-2')];
      answers.set('ann-1', verdict);
      const end = jest.spyOn(own.checks.waiting, 'end');
      expect(await verify('ann-1')).toEqual(verdict);
      expect(socket.closings).toEqual([]);
      const waiting = handshake('ann-1');
      await turn();
      expect([socket.closings, other.closings, waiting]).toEqual([[code], [], [denial]]);
      expect(end).toHaveBeenCalledTimes(1);
    },
  );

  it('ends no socket that opens after it', async () => {
    const { answers, open, verify } = registration();
    const other = await open('ann-2');
    answers.set('ann-1', UNAUTHENTICATED);
    await verify('ann-1');
    answers.delete('ann-1');
    const socket = await open('ann-1');
    await turn();
    expect([socket.closings, other.closings]).toEqual([[], []]);
  });

  it('costs nothing while no socket is watched', async () => {
    const { answers, source, open, verify } = registration();
    const digest = jest.spyOn(source, 'fingerprintOf');
    answers.set('bob-1', UNAUTHENTICATED);
    await verify('bob-1');
    expect(digest).not.toHaveBeenCalled();
    await open('ann-1');
    await verify('bob-1');
    expect(digest).toHaveBeenCalledWith(tokenKeyOf('bob-1'));
  });

  it('is no outage', async () => {
    const { answers, open, verify } = registration();
    const socket = await open('ann-1');
    answers.set('ann-1', unavailable('server_error'));
    await verify('ann-1');
    await turn();
    expect(socket.closings).toEqual([]);
  });
});

describe('an application that shuts down', () => {
  it('watches its sockets no longer, and leaves them open', async () => {
    const { own, source, open } = registration();
    const sockets = [await open('ann-1'), await open('bob-1')];
    own.stop();
    source.forgottenUsers.next(undefined);
    expect([own.watched.index.size, sockets.map(({ closings }) => closings)]).toEqual([0, [[], []]]);
  });
});
