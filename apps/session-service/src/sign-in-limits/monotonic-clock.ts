/** A clock for durations, which changes of the machine's time do not affect; a test replaces it. */
export abstract class MonotonicClock {
  /** Milliseconds since an arbitrary time; never decreases. */
  abstract now(): number;
}

/** Milliseconds since the process started. */
export class ProcessClock extends MonotonicClock {
  now(): number {
    return performance.now();
  }
}
