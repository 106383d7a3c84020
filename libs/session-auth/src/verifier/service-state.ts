import type { LaneName } from '../contract/diagnostics.js';
import type { BreakerState } from './circuit.js';

/**
 * The state of the session service, as this instance sees it. `down`: the breaker of known sessions is open, for the time of its pause. `degraded`: that
 * pause is over and the next call is a probe, the breaker of strangers is not closed, or every token is refused since the start (the key or the URL is wrong). Else `up`.
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
  readonly everyoneRefused: boolean;
}

/** The service before anything is known of it. */
export const UP: ServiceStatus = { state: 'up', breakers: { known: 'closed', strangers: 'closed' }, everyoneRefused: false };

/** Makes one status of what is known about the service. */
export class ServiceWatch {
  readonly #tell: (status: ServiceStatus) => void;
  #status = UP;

  /** `tell` is called with each new status. */
  constructor(tell: (status: ServiceStatus) => void) {
    this.#tell = tell;
  }

  /** The breaker of a lane has a new state. */
  breakerIs(lane: LaneName, state: BreakerState): void {
    const { breakers, everyoneRefused } = this.#status;
    if (breakers[lane] !== state) this.#update({ ...breakers, [lane]: state }, everyoneRefused);
  }

  /** Whether the key or the URL is suspected to be wrong. */
  suspects(everyoneRefused: boolean): void {
    const { breakers, everyoneRefused: before } = this.#status;
    if (before !== everyoneRefused) this.#update(breakers, everyoneRefused);
  }

  #update(breakers: ServiceStatus['breakers'], everyoneRefused: boolean): void {
    this.#status = { state: stateOf(breakers, everyoneRefused), breakers, everyoneRefused };
    this.#tell(this.#status);
  }
}

function stateOf({ known, strangers }: ServiceStatus['breakers'], everyoneRefused: boolean): ServiceState {
  if (known === 'open') return 'down';
  return known === 'halfOpen' || strangers !== 'closed' || everyoneRefused ? 'degraded' : 'up';
}
