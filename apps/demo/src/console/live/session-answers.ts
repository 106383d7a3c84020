const MAX_SESSIONS = 10_000;

/**
 * The latest answer of the session service for each session on one instance of the backend, by token digest.
 */
export class SessionAnswers {
  /** When the call was sent that the service answered last, on the monotonic clock. */
  readonly #askedAt = new Map<string, number>();
  readonly #known = new Set<string>();

  /**
   * Whether the instance issued the session, or has authenticated it: its checks have the lane of known
   * sessions.
   */
  isKnown(digest: string): boolean {
    return this.#known.has(digest);
  }

  /** Milliseconds since the call was sent that the service answered last; undefined without one. */
  ageOf(digest: string): number | undefined {
    const askedAt = this.#askedAt.get(digest);
    return askedAt === undefined ? undefined : performance.now() - askedAt;
  }

  /** Records an answer of the service to a call that was sent at `askedAt`. */
  record(digest: string, isValid: boolean, askedAt: number): void {
    this.#askedAt.delete(digest);
    this.#askedAt.set(digest, askedAt);
    if (isValid) this.addKnown(digest);
    else this.#known.delete(digest);
    trim(this.#askedAt);
  }

  /** Adds a session that the instance issued or authenticated. */
  addKnown(digest: string): void {
    this.#known.add(digest);
    trim(this.#known);
  }
}

/** Evicts the oldest. */
function trim(sessions: Map<string, unknown> | Set<string>): void {
  const [oldest] = sessions.keys();
  if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
}
