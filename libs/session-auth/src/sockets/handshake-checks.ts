import type { ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { type Authenticated, unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { type SessionIdentity, tokenKeyOf } from '../contract/session-identity.js';
import { denialOfVerdict, type GuardDenial, unavailableDenial } from '../guard/denial.js';
import type { GuardParts } from '../guard/guard-parts.js';
import { DENIAL_WITHOUT_SESSION } from '../guard/session-reader.js';
import { type Challenges } from '../guard/challenges.js';
import type { CallRequest } from '../guard/transport.js';
import type { SessionVerifier } from '../verifier/session-verifier.js';
import { type EndsWithSession, SessionIndex } from './session-index.js';
import type { SocketWatchSettings } from './socket-options.js';

/** The handshake of a client with a valid session. */
export interface AuthenticatedHandshake {
  readonly session: SessionIdentity;
  readonly verdict: Authenticated<UserRecord>;
}

/** A handshake to check. */
export interface Handshake {
  /** The client, as token sources of the application receive it. */
  readonly client: object;
  readonly request: CallRequest;
  readonly settings: SocketWatchSettings;
  /** Called once, with the outcome; synchronously if the session is cached. */
  readonly settle: (outcome: AuthenticatedHandshake | GuardDenial) => void;
}

/**
 * Maximum number of handshakes of one session that wait at once. The verifier limits the number of sessions
 * that wait.
 */
const MAX_WAITING_OF_SESSION = 1_024;

/**
 * Checks the sessions of sockets before the sockets open. Denies the waiting handshakes of a session that
 * ends.
 */
export class HandshakeChecks {
  /** Headers of the responses to denied handshakes. */
  readonly challenges: Challenges;
  readonly waiting = new SessionIndex<EndsWithSession>();
  readonly #parts: GuardParts;

  constructor(parts: GuardParts) {
    this.#parts = parts;
    this.challenges = parts.reader.challenges;
  }

  /**
   * Checks a handshake. Never throws.
   * @returns an object that ends the check before its verdict, with a denial for `settle`; `undefined` if
   * `settle` was called already
   */
  begin(handshake: Handshake): EndsWithSession | undefined {
    const session = this.#parts.reader.read(connectionContext(handshake.client), handshake.request);
    if (typeof session === 'string') {
      handshake.settle(DENIAL_WITHOUT_SESSION[session]);
      return undefined;
    }
    const verdict = verifyForSocket(this.#parts.verifier, session);
    if (verdict instanceof Promise) return this.#wait(handshake, session, verdict);
    handshake.settle(outcomeOf(handshake, session, verdict));
    return undefined;
  }

  #wait(
    handshake: Handshake,
    session: SessionIdentity,
    verdict: Promise<Verdict<UserRecord>>,
  ): EndsWithSession | undefined {
    const fingerprint = this.#parts.ends.fingerprintOf(tokenKeyOf(session.token));
    if (this.waiting.countOf(fingerprint) >= MAX_WAITING_OF_SESSION) {
      handshake.settle(denialOfVerdict(unavailable('busy')));
      return undefined;
    }
    let open = true;
    const settle = (outcome: AuthenticatedHandshake | GuardDenial): void => {
      if (!open) return;
      open = false;
      this.waiting.delete(fingerprint, waiter);
      handshake.settle(outcome);
    };
    const waiter = { end: settle };
    this.waiting.add(fingerprint, waiter);
    void verdict.then((settled) => settle(outcomeOf(handshake, session, settled)));
    return waiter;
  }
}

/** A stale session counts as an outage: with an outage grace of 0, it admits no new socket. */
function outcomeOf(
  { settings }: Handshake,
  session: SessionIdentity,
  verdict: Verdict<UserRecord>,
): AuthenticatedHandshake | GuardDenial {
  if (verdict.kind !== 'authenticated') return denialOfVerdict(verdict);
  return verdict.stale && settings.outageGraceMs === 0
    ? unavailableDenial(unavailable('unreachable'))
    : { session, verdict };
}

/** Returns the execution context of a connection, for token sources of the application. */
export function connectionContext(client: object): ExecutionContext {
  const context = new ExecutionContextHost([client, undefined, 'connection']);
  context.setType('ws');
  return context;
}

/** Maximum number of checks of one handshake. */
const MAX_CHECKS = 3;

/**
 * Checks the session of a socket. A socket outlives its check, so the check is repeated if the sessions of
 * its user were revoked meanwhile: the user is unknown before the verdict.
 */
export function verifyForSocket(
  verifier: SessionVerifier<UserRecord>,
  session: SessionIdentity,
): SocketVerdict {
  const startedAtMs = performance.now();
  const verdict = verifier.verify(session);
  return verdict instanceof Promise ? repeatIfRevoked(verifier, session, verdict, startedAtMs) : verdict;
}

type SocketVerdict = Verdict<UserRecord> | Promise<Verdict<UserRecord>>;

async function repeatIfRevoked(
  verifier: SessionVerifier<UserRecord>,
  session: SessionIdentity,
  pending: SocketVerdict,
  sinceMs: number,
  checksLeft = MAX_CHECKS - 1,
): Promise<Verdict<UserRecord>> {
  const verdict = await pending;
  if (verdict.kind !== 'authenticated' || !verifier.revoker.isRevokedSince(verdict.user, sinceMs))
    return verdict;
  if (checksLeft === 0) return unavailable('busy');
  const againAtMs = performance.now();
  return repeatIfRevoked(verifier, session, verifier.verify(session), againAtMs, checksLeft - 1);
}
