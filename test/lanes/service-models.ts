import type { VirtualClock } from './virtual-clock.js';

/** A session service, as far as its time is concerned: calls `answer` when it is done with a request. */
export interface ServiceModel {
  /** Requests per second that it can answer before their callers give up. */
  readonly capacity: number;
  accept(answer: () => void): void;
}

/** Answers any number of requests after the same time, with a number of concurrent calls. */
export function unboundedService(clock: VirtualClock, latencyMs: number, calls: number): ServiceModel {
  return { capacity: calls / (latencyMs / 1_000), accept: (answer) => void clock.after(latencyMs, answer) };
}

/**
 * Processes a number of requests at a time, and queues the others. It does not learn that a caller has given
 * up.
 */
export function boundedService(clock: VirtualClock, latencyMs: number, workers: number): ServiceModel {
  const queue: (() => void)[] = [];
  let busy = 0;
  const work = (answer: () => void): void => {
    busy += 1;
    clock.after(latencyMs, () => {
      busy -= 1;
      const next = queue.shift();
      if (next) work(next);
      answer();
    });
  };
  const accept = (answer: () => void): void => {
    if (busy < workers) work(answer);
    else queue.push(answer);
  };
  return { capacity: workers / (latencyMs / 1_000), accept };
}
