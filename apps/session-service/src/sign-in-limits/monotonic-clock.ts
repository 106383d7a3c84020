/** Measures durations, so that a test can. Setting the machine's time does not move it. */
export abstract class MonotonicClock {
  /** Milliseconds since an arbitrary moment; never decreases. */
  abstract now(): number;
}

/** Milliseconds since the process started. */
export class ProcessClock extends MonotonicClock {
  now(): number {
    return performance.now();
  }
}
