/** Tells the time, so that a test can. */
export abstract class Clock {
  /** Milliseconds since 1970. */
  abstract now(): number;
}

/** The time of this machine. */
export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}
