import { createHmac, randomBytes } from 'node:crypto';
import { BehaviorSubject, Subject } from 'rxjs';
import type { TokenKey } from '../../contract/session-identity.js';
import type { SessionAuthDecision } from '../../guard/decision-reports.js';
import type { SessionEnds } from '../../guard/transport.js';
import { UP, type ServiceStatus } from '../../verifier/service-status.js';

export class EventSource implements SessionEnds {
  readonly #key = randomBytes(32);
  readonly ended = new Subject<string>();
  readonly evicted = new Subject<string>();
  readonly forgottenUsers = new Subject<string | undefined>();
  readonly decisions = new Subject<SessionAuthDecision>();
  readonly serviceStatus = new BehaviorSubject<ServiceStatus>(UP);
  /** Whether the application has shut down: it reports nothing more. */
  isComplete = false;

  fingerprintOf(tokenKey: TokenKey): string {
    return createHmac('sha256', this.#key).update(tokenKey, 'latin1').digest('hex').slice(0, 32);
  }

  /** Computes the fingerprint only for a subscriber, like `emitEvicted`. */
  emitEnded(tokenKey: TokenKey): void {
    if (this.ended.observed) this.ended.next(this.fingerprintOf(tokenKey));
  }

  emitEvicted(tokenKey: TokenKey): void {
    if (this.evicted.observed) this.evicted.next(this.fingerprintOf(tokenKey));
  }

  complete(): void {
    this.isComplete = true;
    this.serviceStatus.complete();
    this.ended.complete();
    this.evicted.complete();
    this.forgottenUsers.complete();
    this.decisions.complete();
  }
}
