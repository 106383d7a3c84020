import type { Journal } from './journal.js';
import type { ValidityChange } from './session-service.process.js';

/** What the session service knew and said, and when. */
export class Truth {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** When the service last said, no later than this, that a token is valid for this user. */
  lastConfirmation(token: string, user: string, byMs: number): number {
    const last = this.#journal.confirmations.get(token)?.findLast((one) => one.user === user && one.atMs <= byMs);
    return last?.atMs ?? -Infinity;
  }

  /** The user for whom a token was ever valid. */
  userOf(token: string): string | undefined {
    return this.#changes(token).find(({ user }) => user !== undefined)?.user;
  }

  /** When a token ended that was not valid at this time; `undefined` if it was valid. */
  endedAt(token: string, atMs: number): number | undefined {
    const last = this.#changes(token).findLast((change) => change.atMs <= atMs);
    return last?.user === undefined ? last?.atMs : undefined;
  }

  /** When, within a time, a token ended. */
  endWithin(token: string, fromMs: number, toMs: number): number | undefined {
    return this.#changes(token).find(({ user, atMs }) => user === undefined && atMs >= fromMs && atMs <= toMs)?.atMs;
  }

  /** Whether a token was valid all this time. */
  wasValid(token: string, fromMs: number, toMs: number): boolean {
    const before = this.#changes(token).findLast((change) => change.atMs <= fromMs);
    return before?.user !== undefined && this.endWithin(token, fromMs, toMs) === undefined;
  }

  #changes(token: string): readonly ValidityChange[] {
    return this.#journal.changes.get(token) ?? [];
  }
}
