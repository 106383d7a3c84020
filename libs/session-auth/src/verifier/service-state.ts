import type { BreakerState } from './circuit.js';

/**
 * How the session service does, as this instance sees it: `down` when it is left alone for not answering, or refuses everybody since the
 * start (the key or the URL is wrong); `degraded` while a single probe finds out whether it answers again; else `up`.
 */
export type ServiceState = 'up' | 'degraded' | 'down';

/** Why the service is in its state. */
export interface ServiceStatus {
  /** What follows from the two below. */
  readonly state: ServiceState;
  /** The circuit to the service; always `closed` with `breaker: false`. */
  readonly breaker: BreakerState;
  /** Every token is refused since the start: most likely the key or the URL is wrong. */
  readonly everyoneRefused: boolean;
}

/** The service before anything is known of it. */
export const UP: ServiceStatus = { state: 'up', breaker: 'closed', everyoneRefused: false };

/** Makes one status of what is known about the service. */
export class ServiceWatch {
  readonly #tell: (status: ServiceStatus) => void;
  #status = UP;

  /** `tell` hears of each change. */
  constructor(tell: (status: ServiceStatus) => void) {
    this.#tell = tell;
  }

  /** The circuit has a new state. */
  breakerIs(breaker: BreakerState): void {
    this.#update(breaker, this.#status.everyoneRefused);
  }

  /** Whether the key or the URL is suspected to be wrong. */
  suspects(everyoneRefused: boolean): void {
    this.#update(this.#status.breaker, everyoneRefused);
  }

  #update(breaker: BreakerState, everyoneRefused: boolean): void {
    if (breaker === this.#status.breaker && everyoneRefused === this.#status.everyoneRefused) return;
    this.#status = { state: stateOf(breaker, everyoneRefused), breaker, everyoneRefused };
    this.#tell(this.#status);
  }
}

function stateOf(breaker: BreakerState, everyoneRefused: boolean): ServiceState {
  if (everyoneRefused || breaker === 'open') return 'down';
  return breaker === 'halfOpen' ? 'degraded' : 'up';
}
