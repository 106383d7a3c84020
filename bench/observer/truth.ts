import type { Journal } from './journal.js';
import type { ValidityChange } from './session-service.process.js';

/** The state and the answers of the session service over time. */
export class Truth {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** Returns when the service last answered, no later than `byMs`, that a token is valid for this user. */
  lastConfirmation(token: string, user: string, byMs: number): number {
    const last = this.#journal.confirmations
      .get(token)
      ?.findLast((one) => one.user === user && one.atMs <= byMs);
    return last?.atMs ?? -Infinity;
  }

  /** Returns the user for whom a token was ever valid. */
  userOf(token: string): string | undefined {
    return this.#changes(token).find(({ user }) => user !== undefined)?.user;
  }

  /** Returns when a token that was invalid at this time had ended; `undefined` if it was valid. */
  endedAt(token: string, atMs: number): number | undefined {
    const last = this.#changes(token).findLast((change) => change.atMs <= atMs);
    return last?.user === undefined ? last?.atMs : undefined;
  }

  /** Returns when a token ended within a span. */
  endWithin(token: string, fromMs: number, toMs: number): number | undefined {
    return this.#changes(token).find(({ user, atMs }) => user === undefined && atMs >= fromMs && atMs <= toMs)
      ?.atMs;
  }

  /** Returns whether a token was valid throughout a span. */
  wasValid(token: string, fromMs: number, toMs: number): boolean {
    const before = this.#changes(token).findLast((change) => change.atMs <= fromMs);
    return before?.user !== undefined && this.endWithin(token, fromMs, toMs) === undefined;
  }

  #changes(token: string): readonly ValidityChange[] {
    return this.#journal.changes.get(token) ?? [];
  }
}
