import type { LaneName } from '../contract/diagnostics.js';
import type { BreakerState } from './circuit-breaker.js';

/**
 * The state of the session service, as this instance sees it.
 *
 * - `down`: the breaker of known sessions is open, for the time of its pause.
 * - `degraded`: that pause is over and the next call is a probe, the breaker of strangers is not closed, the
 * service refuses everyone (the key or the URL is probably wrong), or the revocations of other instances do
 * not arrive.
 * - `up`: none of these.
 *
 * Requests of strangers alone never make it `down`.
 */
export type ServiceState = 'up' | 'degraded' | 'down';

/** The state of the session service, and the conditions that determine it. */
export interface ServiceStatus {
  /** Derived from the members below. */
  readonly state: ServiceState;
  /** The circuit breaker of each lane; with `breaker: false`, only a pause for a 429 opens it. */
  readonly breakers: Readonly<Record<LaneName, BreakerState>>;
  /**
   * Whether the key or the URL is probably wrong: every token has been refused since startup, or sessions of
   * several users that were accepted before are refused, and none was accepted since.
   */
  readonly misconfigurationSuspected: boolean;
  /** Whether revocations of other instances arrive. */
  readonly revocationBus: RevocationBusStatus;
}

/**
 * `off`: there is no `cache.store`. `interrupted`: revocations of other instances take effect here after
 * `cache.ttlMs` at the latest.
 */
export type RevocationBusState = 'off' | 'connected' | 'interrupted';

/** The channel that carries revocations between instances. */
export interface RevocationBusStatus {
  /** Whether revocations of other instances arrive. */
  readonly state: RevocationBusState;
  /**
   * Number of messages since startup that no secret opens: their senders have another secret or another
   * `baseUrl`.
   */
  readonly unreadableMessages: number;
}

/** The initial status, before the first call. */
export const UP: ServiceStatus = {
  state: 'up',
  breakers: { known: 'closed', strangers: 'closed' },
  misconfigurationSuspected: false,
  revocationBus: { state: 'off', unreadableMessages: 0 },
};

/** Combines the conditions of the service into one {@link ServiceStatus}. */
export class ServiceStatusTracker {
  readonly #publish: (status: ServiceStatus) => void;
  #status = UP;

  /** `publish` is called with each new status. */
  constructor(publish: (status: ServiceStatus) => void) {
    this.#publish = publish;
  }

  /** Sets the breaker state of a lane. */
  setBreaker(lane: LaneName, state: BreakerState): void {
    const { breakers } = this.#status;
    if (breakers[lane] !== state) this.#update({ breakers: { ...breakers, [lane]: state } });
  }

  /** Sets whether the key or the URL is probably wrong. */
  setMisconfigurationSuspected(misconfigurationSuspected: boolean): void {
    if (this.#status.misconfigurationSuspected !== misconfigurationSuspected)
      this.#update({ misconfigurationSuspected });
  }

  /** Sets whether revocations of other instances arrive. */
  setRevocationBus(state: RevocationBusState): void {
    const { revocationBus } = this.#status;
    if (revocationBus.state !== state) this.#update({ revocationBus: { ...revocationBus, state } });
  }

  /** Counts a message that no secret opens. Returns whether it is the first. */
  countUnreadableMessage(): boolean {
    const { revocationBus } = this.#status;
    const unreadableMessages = revocationBus.unreadableMessages + 1;
    this.#update({ revocationBus: { ...revocationBus, unreadableMessages } });
    return unreadableMessages === 1;
  }

  #update(change: Partial<Omit<ServiceStatus, 'state'>>): void {
    const status = { ...this.#status, ...change };
    this.#status = { ...status, state: stateOf(status) };
    this.#publish(this.#status);
  }
}

function stateOf({
  breakers,
  misconfigurationSuspected,
  revocationBus,
}: Omit<ServiceStatus, 'state'>): ServiceState {
  if (breakers.known === 'open') return 'down';
  const isDegraded =
    breakers.known === 'halfOpen' ||
    breakers.strangers !== 'closed' ||
    misconfigurationSuspected ||
    revocationBus.state === 'interrupted';
  return isDegraded ? 'degraded' : 'up';
}
