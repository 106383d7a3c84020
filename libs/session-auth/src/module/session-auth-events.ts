import { createHmac, randomBytes } from 'node:crypto';
import { BehaviorSubject, distinctUntilChanged, map, Subject, type Observable } from 'rxjs';
import { UP, type ServiceState, type ServiceStatus } from '../verifier/service-status.js';
import { tokenKeyOf } from '../contract/session-identity.js';

const FINGERPRINT_DIGITS = 32;

/** What an application that keeps connections open (a gateway, a stream) needs to hear. */
export class SessionAuthEvents {
  readonly #key = randomBytes(32);
  readonly #ended = new Subject<string>();
  readonly #endedUsers = new Subject<string | undefined>();
  readonly #service = new BehaviorSubject<ServiceStatus>(UP);

  /**
   * Fingerprints of sessions that are over: signed out on this instance, or refused by the service after they had been good here; with
   * `cache.store`, on any instance. Each end once in a minute. A hint, as quick as the store's broadcast: what it misses, the next check finds.
   */
  readonly ended$: Observable<string> = this.#ended.asObservable();

  /**
   * Names of users whose sessions were all revoked by `endUser`, and `undefined` when `endAll` revoked every session; with `cache.store`, on any
   * instance. Their tokens do not follow in `ended$`. A message that is lost is not repeated here.
   */
  readonly endedUsers$: Observable<string | undefined> = this.#endedUsers.asObservable();

  /** How the session service does, as this instance sees it: the state of now, and each one that follows. */
  readonly serviceState$: Observable<ServiceState> = this.#service.pipe(
    map(({ state }) => state),
    distinctUntilChanged(),
  );

  /** How the session service does now, and why. */
  get serviceStatus(): ServiceStatus {
    return this.#service.value;
  }

  /** What stands for a token in `ended$`: 32 hexadecimal digits, which are good in this process alone. */
  fingerprintOf(token: string): string {
    return this.fingerprintOfKey(tokenKeyOf(token));
  }

  /** @internal The same, where the digest of the token is at hand. */
  fingerprintOfKey(key: string): string {
    return createHmac('sha256', this.#key).update(key, 'latin1').digest('hex').slice(0, FINGERPRINT_DIGITS);
  }

  /** A session is over, known by the digest of its token. What a listener throws is its own affair. */
  tellEnded(token: string): void {
    if (this.#ended.observed) this.#ended.next(this.fingerprintOfKey(token));
  }

  /** Every session of a user, or every session, is revoked. */
  tellUsersEnded(username: string | undefined): void {
    this.#endedUsers.next(username);
  }

  /** The session service does better or worse than before. */
  tellServiceStatus(status: ServiceStatus): void {
    this.#service.next(status);
  }

  /** Nothing will be told any more. */
  complete(): void {
    this.#service.complete();
    this.#ended.complete();
    this.#endedUsers.complete();
  }
}
