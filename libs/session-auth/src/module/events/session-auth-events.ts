import { distinctUntilChanged, map, type Observable } from 'rxjs';
import { tokenKeyOf } from '../../contract/session-identity.js';
import type { SessionAuthDecision } from '../../guard/decision-reports.js';
import type { ServiceState, ServiceStatus } from '../../verifier/service-status.js';
import type { EventSource } from './event-source.js';
import { rejectOwnProvider } from '../../contract/errors.js';
import { isolated } from './isolated-observable.js';

/**
 * Emits events of the session check: revocations, the state of the service, and the decisions of the guard.
 * If a subscriber throws or rejects, the error is logged, and nothing else changes.
 *
 * @example
 * ```ts
 * app.get(SessionAuthEvents).serviceState$.subscribe((state) => console.log(state));
 * ```
 */
export class SessionAuthEvents {
  readonly #source: EventSource;

  /**
   * Emits the fingerprint of each revoked session: signed out, or refused by the service after it was valid,
   * on this instance; with `cache.store`, on any. Emits each sign-out, and anything else once per session and
   * minute, unless the session is checked in between. A message between instances may be lost: the next
   * check finds the revocation.
   */
  readonly ended$: Observable<string>;

  /**
   * Emits the name of each user that `forgetUser` was called with, and `undefined` for `forgetAll`; with
   * `cache.store`, on any instance. `ended$` does not emit their sessions. A lost message is not repeated.
   */
  readonly forgottenUsers$: Observable<string | undefined>;

  /** Emits the current state of the session service, as this instance sees it, and each change. */
  readonly serviceState$: Observable<ServiceState>;

  /**
   * Emits each decision of the guard, before the handler runs: one for each call of a handler that is not
   * public, and for each GraphQL field that the guard checks; none for handshakes of `SessionSockets`.
   * Subscribers run during the call: hand slow work to a queue. Costs nothing without subscribers.
   */
  readonly decisions$: Observable<SessionAuthDecision>;

  /** @internal Created by Nest. */
  constructor(source: EventSource, subscriberFailed: (name: string) => void) {
    if ((source as unknown) === undefined) rejectOwnProvider('SessionAuthEvents');
    this.#source = source;
    const named = <Value>(name: string, events: Observable<Value>): Observable<Value> =>
      isolated(events, () => subscriberFailed(name));
    this.decisions$ = named('decisions$', source.decisions.asObservable());
    this.ended$ = named('ended$', source.ended.asObservable());
    this.forgottenUsers$ = named('forgottenUsers$', source.forgottenUsers.asObservable());
    const states = source.serviceStatus.pipe(map(({ state }) => state));
    this.serviceState$ = named('serviceState$', states.pipe(distinctUntilChanged()));
  }

  /** The current status of the session service, with the reasons for its state. */
  get serviceStatus(): ServiceStatus {
    return this.#source.serviceStatus.value;
  }

  /**
   * Returns the fingerprint of a token, as `ended$` emits it: 32 hexadecimal digits, valid in this process
   * only.
   */
  fingerprintOf(token: string): string {
    return this.#source.fingerprintOf(tokenKeyOf(token));
  }
}
