/** What the service says in a test: a user by number, or one of its refusals. */
export type Said = number | 'refused' | 'forbidden' | 'out';

/** What a caller is told: what the service says, or a user that is stale. */
export type Told = Said | `stale ${number}`;

/** Milliseconds, as the options name them. */
export interface Lifetimes {
  readonly ttlMs: number;
  readonly negativeTtlMs: number;
  readonly refreshAheadMs: number;
  readonly staleIfErrorMs: number;
}

/** A question to the service: in which era it was asked, and when. */
export interface Question {
  readonly era: number;
  readonly askedAtMs: number;
}

/**
 * What may be known of one token, told as a story: each question, sign-out, `forget` and sign-in begins a new era, and only an answer to a
 * question of the present era counts.
 */
export class SessionModel {
  nowMs = 0;
  #era = 0;
  #confirmed: { readonly user: number; readonly atMs: number } | undefined;
  #refusedAtMs = -Infinity;
  #barredUntilMs = -Infinity;

  constructor(private readonly lifetimes: Lifetimes) {}

  question(): Question {
    this.#era += 1;
    return { era: this.#era, askedAtMs: this.nowMs };
  }

  /** Whether a check with this limit waits for the answer to a question that was asked before. */
  canJoin({ era, askedAtMs }: Question, maxAgeMs: number): boolean {
    return era === this.#era && this.nowMs - askedAtMs < maxAgeMs;
  }

  /** The service has answered. */
  answered(question: Question, said: Said): void {
    if (question.era !== this.#era || said === 'out') return;
    if (typeof said !== 'number') this.#confirmed = undefined;
    if (said === 'refused') this.#refusedAtMs = this.nowMs;
    if (typeof said !== 'number' || this.nowMs < this.#barredUntilMs) return;
    this.#confirmed = { user: said, atMs: question.askedAtMs };
    this.#refusedAtMs = -Infinity;
  }

  forgotten(): void {
    this.#era += 1;
    this.#confirmed = undefined;
    this.#refusedAtMs = -Infinity;
  }

  signedOut(): void {
    this.forgotten();
    this.#barredUntilMs = this.nowMs + this.lifetimes.ttlMs + this.lifetimes.staleIfErrorMs;
  }

  signedIn(): void {
    this.#era += 1;
    this.#refusedAtMs = -Infinity;
    this.#barredUntilMs = -Infinity;
  }

  /** What a caller is told at once; `undefined` when the service must be asked. */
  fromMemory(maxAgeMs: number): Told | undefined {
    if (this.#confirmed)
      return this.#ageOf(this.#confirmed.atMs) < Math.min(this.lifetimes.ttlMs, maxAgeMs) ? this.#confirmed.user : undefined;
    return this.#ageOf(this.#refusedAtMs) < Math.min(this.lifetimes.negativeTtlMs, maxAgeMs) ? 'refused' : undefined;
  }

  /** What a caller is told when the service has said this. */
  told(said: Said, maxAgeMs: number): Told {
    const { ttlMs, staleIfErrorMs } = this.lifetimes;
    if (said !== 'out' || maxAgeMs !== Infinity || staleIfErrorMs === 0 || !this.#confirmed) return said;
    return this.#ageOf(this.#confirmed.atMs) < ttlMs + staleIfErrorMs ? `stale ${this.#confirmed.user}` : said;
  }

  /** Whether a use of the session at this moment may have it confirmed again. */
  mayRefresh(): boolean {
    const { ttlMs, refreshAheadMs } = this.lifetimes;
    return refreshAheadMs > 0 && this.#confirmed !== undefined && this.#ageOf(this.#confirmed.atMs) >= ttlMs - refreshAheadMs;
  }

  #ageOf(thenMs: number): number {
    return this.nowMs - thenMs;
  }
}
