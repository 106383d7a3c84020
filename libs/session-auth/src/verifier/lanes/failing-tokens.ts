/** What is kept of a token whose calls fail. */
interface FailingToken {
  /** When the failures that are counted began. */
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly failures: number;
}

/** Bounds of {@link FailingTokens}. */
export interface FailingTokenLimits {
  /** Tokens that must fail within the window. */
  readonly tokens: number;
  /** Failures of one token that count within a window. */
  readonly failuresEach: number;
  readonly windowMs: number;
}

/** Tokens that are kept: more than one caller has, or the eviction of one would let its failures count again. */
const MAX_TOKENS = 256;

/**
 * The tokens whose calls failed within the window, by digest. One of them counts for no more than its part, so that one account whose details
 * always fail proves nothing about the service, however often it asks, and does not when the breaker has closed again either.
 */
export class FailingTokens {
  readonly #limits: FailingTokenLimits;
  /** The one that failed last is the last. */
  readonly #tokens = new Map<string, FailingToken>();

  constructor(limits: FailingTokenLimits) {
    this.#limits = limits;
  }

  /** Records a failure, and returns whether it counts. */
  add(token: string, nowMs: number): boolean {
    const { failuresEach, windowMs } = this.#limits;
    const before = this.#tokens.get(token);
    const { sinceMs, failures } = before && nowMs - before.sinceMs < windowMs ? before : { sinceMs: nowMs, failures: 0 };
    this.#tokens.delete(token);
    this.#tokens.set(token, { sinceMs, lastMs: nowMs, failures: failures + 1 });
    this.#evict(nowMs);
    return failures < failuresEach;
  }

  /** Whether enough different tokens failed within the window that ended with the last failure. */
  get areEnough(): boolean {
    return this.#tokens.size >= this.#limits.tokens;
  }

  has(token: string): boolean {
    return this.#tokens.has(token);
  }

  #evict(nowMs: number): void {
    for (const [token, { lastMs }] of this.#tokens) {
      if (this.#tokens.size <= MAX_TOKENS && nowMs - lastMs < this.#limits.windowMs) return;
      this.#tokens.delete(token);
    }
  }
}
