import type { ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { SessionIdentity } from '../../contract/session-identity.js';
import type { UserRecord } from '../../contract/user-record.js';
import { unavailable, type Authenticated, type Verdict } from '../../contract/verdict.js';
import type { GuardParts } from '../../guard/guard-parts.js';
import { SESSION_REJECTED, SESSION_REQUIRED, unavailableDenial, type GuardDenial } from '../../guard/http-denial.js';
import { NO_TOKEN } from '../../guard/presented-session.js';
import type { CallRequest } from '../../guard/transports/transport.js';
import { denialOfVerdict } from '../../guard/verdict-denial.js';
import type { SessionAuthEvents } from '../session-auth-events.js';
import { SessionIndex, type EndsWithSession } from './session-index.js';
import type { SocketWatchSettings } from './socket-options.js';
import { verifyForSocket } from './verify-for-socket.js';

/** A handshake of a client with a valid session. */
export interface AcceptedHandshake {
  readonly session: SessionIdentity;
  readonly verdict: Authenticated<UserRecord>;
}

/** A handshake to check. */
export interface Handshake {
  /** The client, as a token source of the application gets it. */
  readonly client: object;
  readonly request: CallRequest;
  readonly settings: SocketWatchSettings;
  /** Called once, with the outcome: at once where the session is cached. */
  readonly settle: (outcome: AcceptedHandshake | GuardDenial) => void;
}

/** Handshakes of one session that may wait at once. The verifier bounds how many sessions wait. */
const MAX_WAITING_OF_SESSION = 1_024;

/** Checks the sessions of sockets before these are open. A session that ends meanwhile denies its handshakes. */
export class HandshakeChecks {
  readonly waiting = new SessionIndex<EndsWithSession>();
  readonly #parts: GuardParts;
  readonly #events: SessionAuthEvents;

  constructor(parts: GuardParts, events: SessionAuthEvents) {
    this.#parts = parts;
    this.#events = events;
  }

  /** Checks a handshake. @returns what ends the check before its verdict, with the denial that `settle` gets then; never throws */
  begin(handshake: Handshake): EndsWithSession | undefined {
    const session = this.#parts.presented.read(connectionContext(handshake.client), handshake.request);
    if (typeof session !== 'object') {
      handshake.settle(session === NO_TOKEN ? SESSION_REQUIRED : SESSION_REJECTED);
      return undefined;
    }
    const verdict = verifyForSocket(this.#parts.verifier, session);
    if (verdict instanceof Promise) return this.#wait(handshake, session, verdict);
    handshake.settle(outcomeOf(handshake, session, verdict));
    return undefined;
  }

  #wait(handshake: Handshake, session: SessionIdentity, verdict: Promise<Verdict<UserRecord>>): EndsWithSession | undefined {
    const fingerprint = this.#events.fingerprintOf(session.token);
    if (this.waiting.countOf(fingerprint) >= MAX_WAITING_OF_SESSION) {
      handshake.settle(denialOfVerdict(unavailable('busy')));
      return undefined;
    }
    let open = true;
    const settle = (outcome: AcceptedHandshake | GuardDenial): void => {
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

/** A stale session counts as an outage: nobody new is let in where the outage grace is 0. */
function outcomeOf({ settings }: Handshake, session: SessionIdentity, verdict: Verdict<UserRecord>): AcceptedHandshake | GuardDenial {
  if (verdict.kind !== 'authenticated') return denialOfVerdict(verdict);
  return verdict.stale && settings.outageGraceMs === 0 ? unavailableDenial(unavailable('unreachable')) : { session, verdict };
}

/** What an application's own token source gets to see of a connection. */
export function connectionContext(client: object): ExecutionContext {
  const context = new ExecutionContextHost([client, undefined, 'connection']);
  context.setType('ws');
  return context;
}
