/** The current time; a test replaces it. */
export abstract class Clock {
  /** Milliseconds since 1970. */
  abstract now(): number;
}

/** The clock of this machine. */
export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}
