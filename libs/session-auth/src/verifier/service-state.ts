import type { BreakerState } from './circuit-breaker.js';

/**
 * How the session service does, as this instance sees it: `down` when it is left alone for not answering, or refuses everybody since the
 * start (the key or the URL is wrong); `degraded` while a single probe finds out whether it answers again; else `up`.
 */
export type ServiceState = 'up' | 'degraded' | 'down';

/** Makes one state of what is known about the service. */
export class ServiceWatch {
  readonly #tell: (state: ServiceState) => void;
  #breaker: BreakerState = 'closed';
  #suspected = false;
  #told: ServiceState = 'up';

  /** `tell` hears of each new state. It is `up` at first. */
  constructor(tell: (state: ServiceState) => void) {
    this.#tell = tell;
  }

  /** The circuit has a new state. */
  breakerIs(state: BreakerState): void {
    this.#breaker = state;
    this.#update();
  }

  /** Whether the key or the URL is suspected to be wrong. */
  suspects(suspected: boolean): void {
    this.#suspected = suspected;
    this.#update();
  }

  #update(): void {
    const state = this.#state();
    if (state === this.#told) return;
    this.#told = state;
    this.#tell(state);
  }

  #state(): ServiceState {
    if (this.#suspected || this.#breaker === 'open') return 'down';
    return this.#breaker === 'halfOpen' ? 'degraded' : 'up';
  }
}
