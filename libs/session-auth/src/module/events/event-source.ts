import { createHmac, randomBytes } from 'node:crypto';
import { BehaviorSubject, Subject } from 'rxjs';
import type { UserRecord } from '../../contract/record/user-record.js';
import type { TokenKey } from '../../contract/session-identity.js';
import type { SessionAuthDecision } from '../../guard/decisions.js';
import type { SessionEnds } from '../../guard/open-reply.js';
import type { SessionVerifier } from '../../verifier/session-verifier.js';
import { UP, type ServiceStatus } from '../../verifier/service-status.js';

const FINGERPRINT_DIGITS = 32;

/** Emits the events of one authority. Applications get the read-only `SessionAuthEvents`. */
export class EventSource {
  readonly #key = randomBytes(32);
  /** Fingerprints of revoked sessions. */
  readonly ended = new Subject<string>();
  /** Fingerprints of evicted sessions. */
  readonly evicted = new Subject<string>();
  /** Names of revoked users; `undefined` for every user. */
  readonly forgottenUsers = new Subject<string | undefined>();
  /** Decisions of the guards. */
  readonly decisions = new Subject<SessionAuthDecision>();
  readonly serviceStatus = new BehaviorSubject<ServiceStatus>(UP);
  /** Whether the application has shut down: it reports nothing more. */
  isComplete = false;

  /** Returns the fingerprint of a session: 32 hexadecimal digits, valid in this process only. */
  fingerprintOf(tokenKey: TokenKey): string {
    return createHmac('sha256', this.#key)
      .update(tokenKey, 'latin1')
      .digest('hex')
      .slice(0, FINGERPRINT_DIGITS);
  }

  /** Emits the fingerprint of a revoked session. */
  emitEnded(tokenKey: TokenKey): void {
    if (this.ended.observed) this.ended.next(this.fingerprintOf(tokenKey));
  }

  /** Emits an eviction. Computes its fingerprint only for a subscriber. */
  emitEvicted(tokenKey: TokenKey): void {
    if (this.evicted.observed) this.evicted.next(this.fingerprintOf(tokenKey));
  }

  /** Completes every observable. */
  complete(): void {
    this.isComplete = true;
    this.serviceStatus.complete();
    this.ended.complete();
    this.evicted.complete();
    this.forgottenUsers.complete();
    this.decisions.complete();
  }
}

/** Returns the ends of sessions, as the parts of an authority share them. */
export function sessionEnds(
  source: EventSource,
  { revoker }: Pick<SessionVerifier<UserRecord>, 'revoker'>,
): SessionEnds {
  return {
    ended: source.ended.asObservable(),
    evicted: source.evicted.asObservable(),
    forgottenUsers: source.forgottenUsers.asObservable(),
    refused: (listener) => revoker.onRefusal(listener),
    fingerprintOf: (tokenKey) => source.fingerprintOf(tokenKey),
  };
}
