import type { LaneName } from '../contract/diagnostics.js';
import type { BreakerState } from './lanes/circuit.js';

/**
 * The state of the session service, as this instance sees it. `down`: the breaker of known sessions is open, for the time of its pause. `degraded`: that
 * pause is over and the next call is a probe, the breaker of strangers is not closed, every token is refused since the start (the key or the URL
 * is wrong), or the revocations of other instances do not arrive. Else `up`.
 * Requests of strangers alone never make it `down`.
 */
export type ServiceState = 'up' | 'degraded' | 'down';

/** Why the service is in its state. */
export interface ServiceStatus {
  /** Follows from the two below. */
  readonly state: ServiceState;
  /** The circuit breaker of each lane; always `closed` with `breaker: false`. */
  readonly breakers: Readonly<Record<LaneName, BreakerState>>;
  /** Every token is refused since the start: most likely the key or the URL is wrong. */
  readonly misconfigurationSuspected: boolean;
  /** Whether revocations of other instances arrive; `off` without `cache.store`. */
  readonly revocationBus: RevocationBusState;
}

/** `interrupted`: revocations of other instances take effect here after `cache.ttlMs` at the latest. */
export type RevocationBusState = 'off' | 'connected' | 'interrupted';

/** The service before anything is known of it. */
export const UP: ServiceStatus = {
  state: 'up',
  breakers: { known: 'closed', strangers: 'closed' },
  misconfigurationSuspected: false,
  revocationBus: 'off',
};

/** Makes one status of what is known about the service. */
export class ServiceStatusTracker {
  readonly #publish: (status: ServiceStatus) => void;
  #status = UP;

  /** `tell` is called with each new status. */
  constructor(tell: (status: ServiceStatus) => void) {
    this.#publish = tell;
  }

  /** The breaker of a lane has a new state. */
  setBreaker(lane: LaneName, state: BreakerState): void {
    const { breakers } = this.#status;
    if (breakers[lane] !== state) this.#update({ breakers: { ...breakers, [lane]: state } });
  }

  /** Whether the key or the URL is suspected to be wrong. */
  setMisconfigurationSuspected(misconfigurationSuspected: boolean): void {
    if (this.#status.misconfigurationSuspected !== misconfigurationSuspected)
      this.#update({ misconfigurationSuspected: misconfigurationSuspected });
  }

  /** Whether revocations of other instances arrive. */
  setRevocationBus(revocationBus: RevocationBusState): void {
    if (this.#status.revocationBus !== revocationBus) this.#update({ revocationBus });
  }

  #update(change: Partial<Omit<ServiceStatus, 'state'>>): void {
    const status = { ...this.#status, ...change };
    this.#status = { ...status, state: stateOf(status) };
    this.#publish(this.#status);
  }
}

function stateOf({
  breakers,
  misconfigurationSuspected: misconfigurationSuspected,
  revocationBus,
}: Omit<ServiceStatus, 'state'>): ServiceState {
  if (breakers.known === 'open') return 'down';
  const isDegraded =
    breakers.known === 'halfOpen' || breakers.strangers !== 'closed' || misconfigurationSuspected || revocationBus === 'interrupted';
  return isDegraded ? 'degraded' : 'up';
}
