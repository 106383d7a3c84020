/** A reply of the service in a test: a user by number, a refusal, or no usable answer. */
export type ServiceReply = number | 'refused' | 'forbidden' | 'out';

/** A reply to a caller: that of the service, or a stale user. */
export type Reply = ServiceReply | `stale ${number}`;

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
 * Models the cache entry of one token. Each question, sign-out, `forget` and sign-in begins a new era, and
 * only an answer to a question of the present era counts.
 */
export class SessionModel {
  nowMs = 0;
  #era = 0;
  #confirmed: { readonly user: number; readonly atMs: number } | undefined;
  #refusedAtMs = -Infinity;
  #revokedUntilMs = -Infinity;

  constructor(private readonly lifetimes: Lifetimes) {}

  question(): Question {
    this.#era += 1;
    return { era: this.#era, askedAtMs: this.nowMs };
  }

  /** Returns whether a check with this limit joins a question that was asked before. */
  canJoin({ era, askedAtMs }: Question, maxAgeMs: number): boolean {
    return era === this.#era && this.nowMs - askedAtMs < maxAgeMs;
  }

  /** The service has answered. */
  answered(question: Question, reply: ServiceReply): void {
    if (question.era !== this.#era || reply === 'out') return;
    if (typeof reply !== 'number') this.#confirmed = undefined;
    if (reply === 'refused') this.#refusedAtMs = this.nowMs;
    if (typeof reply !== 'number' || this.nowMs < this.#revokedUntilMs) return;
    this.#confirmed = { user: reply, atMs: question.askedAtMs };
    this.#refusedAtMs = -Infinity;
  }

  evicted(): void {
    this.#era += 1;
    this.#confirmed = undefined;
    this.#refusedAtMs = -Infinity;
  }

  signedOut(): void {
    this.evicted();
    this.#revokedUntilMs = this.nowMs + this.lifetimes.ttlMs + this.lifetimes.staleIfErrorMs;
  }

  signedIn(): void {
    this.#era += 1;
    this.#refusedAtMs = -Infinity;
    this.#revokedUntilMs = -Infinity;
  }

  /** Returns the reply from the cache, or `undefined` if the service must be asked. */
  fromCache(maxAgeMs: number): Reply | undefined {
    if (this.#confirmed)
      return this.#ageOf(this.#confirmed.atMs) < Math.min(this.lifetimes.ttlMs, maxAgeMs)
        ? this.#confirmed.user
        : undefined;
    return this.#ageOf(this.#refusedAtMs) < Math.min(this.lifetimes.negativeTtlMs, maxAgeMs)
      ? 'refused'
      : undefined;
  }

  /** Returns the reply to a caller after this reply of the service. */
  replyAfter(reply: ServiceReply, maxAgeMs: number): Reply {
    const { ttlMs, staleIfErrorMs } = this.lifetimes;
    if (reply !== 'out' || maxAgeMs !== Infinity || staleIfErrorMs === 0 || !this.#confirmed) return reply;
    return this.#ageOf(this.#confirmed.atMs) < ttlMs + staleIfErrorMs
      ? `stale ${this.#confirmed.user}`
      : reply;
  }

  /** Returns whether a check at this moment may refresh the session in the background. */
  mayRefresh(): boolean {
    const { ttlMs, refreshAheadMs } = this.lifetimes;
    return (
      refreshAheadMs > 0 &&
      this.#confirmed !== undefined &&
      this.#ageOf(this.#confirmed.atMs) >= ttlMs - refreshAheadMs
    );
  }

  #ageOf(thenMs: number): number {
    return this.nowMs - thenMs;
  }
}
