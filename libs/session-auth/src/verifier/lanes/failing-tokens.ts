/** What is kept of a token whose calls fail. */
interface FailingToken {
  /** When the failures that are counted began. */
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly failures: number;
}

/** Bounds of {@link FailingTokens}. */
export interface FailingTokenLimits {
  /** Tokens that must fail within the window; as many are kept. */
  readonly tokens: number;
  /** Failures of one token that count within a window. */
  readonly failuresEach: number;
  readonly windowMs: number;
}

/**
 * The tokens whose calls failed last, by digest: as many as a breaker needs to open. One of them counts for no more than its part, so that
 * one account whose details always fail proves nothing about the service, however often it asks.
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
    const { tokens, failuresEach, windowMs } = this.#limits;
    const before = this.#tokens.get(token);
    const { sinceMs, failures } = before && nowMs - before.sinceMs < windowMs ? before : { sinceMs: nowMs, failures: 0 };
    this.#tokens.delete(token);
    this.#tokens.set(token, { sinceMs, lastMs: nowMs, failures: failures + 1 });
    if (this.#tokens.size > tokens) this.#tokens.delete(this.#first());
    return failures < failuresEach;
  }

  /** Whether enough different tokens failed within the window. */
  areEnough(nowMs: number): boolean {
    const first = this.#tokens.get(this.#first());
    return this.#tokens.size === this.#limits.tokens && first !== undefined && nowMs - first.lastMs < this.#limits.windowMs;
  }

  has(token: string): boolean {
    return this.#tokens.has(token);
  }

  clear(): void {
    this.#tokens.clear();
  }

  #first(): string {
    const [first = ''] = this.#tokens.keys();
    return first;
  }
}
