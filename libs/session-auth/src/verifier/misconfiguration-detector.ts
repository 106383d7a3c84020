import type { TokenKey } from '../contract/session-identity.js';
import type { Verdict } from '../contract/outcome.js';

/**
 * Number of different tokens that must be refused, without one success. Then the key or the URL is probably
 * wrong, rather than the tokens.
 */
const MIN_REFUSED_TOKENS = 20;
/** Number of users whose sessions, accepted before, must be refused with 403. */
const MIN_FORBIDDEN_USERS = 3;
/** The same for 401, within {@link ENDINGS_MS}: sessions also end, a few at a time. */
const MIN_ENDED_USERS = 5;
const ENDINGS_MS = 60_000;

/**
 * Sign of a wrong key or URL: every token was refused since startup, or sessions are refused that were
 * accepted before.
 */
export type Misconfiguration = 'since startup' | 'after acceptance';

/** Detects that the service refuses everyone, at startup or later. It does not affect verdicts. */
export class MisconfigurationDetector {
  readonly #onChange: (misconfiguration: Misconfiguration | undefined) => void;
  readonly #now: () => number;
  readonly #refusedTokens = new Set<TokenKey>();
  readonly #forbiddenUsers = new Set<unknown>();
  /** Users whose sessions ended, with the time of the last end. */
  readonly #endedUsers = new Map<unknown, number>();
  #wasAccepted = false;
  #misconfiguration: Misconfiguration | undefined;

  /**
   * `onChange` is called when a misconfiguration is suspected, and with `undefined` when a session is
   * accepted after that.
   */
  constructor(
    onChange: (misconfiguration: Misconfiguration | undefined) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#onChange = onChange;
    this.#now = now;
  }

  /**
   * Records the verdict of the service on the token with this digest.
   * @param knownUser identifies the user if the session was accepted before. One user, however many sessions
   * it has, is no sign of it.
   */
  record(tokenKey: TokenKey, { kind }: Verdict<unknown>, knownUser?: unknown): void {
    if (kind === 'authenticated') this.#accepted();
    else if (kind !== 'unavailable' && this.#misconfiguration === undefined)
      this.#refused(tokenKey, kind, knownUser);
  }

  #refused(tokenKey: TokenKey, kind: 'unauthenticated' | 'forbidden', knownUser: unknown): void {
    if (!this.#wasAccepted) this.#refusedTokens.add(tokenKey);
    if (knownUser !== undefined) this.#refusedUser(kind, knownUser);
    if (this.#refusedTokens.size >= MIN_REFUSED_TOKENS) this.#suspect('since startup');
    else if (this.#forbiddenUsers.size >= MIN_FORBIDDEN_USERS || this.#endedUsers.size >= MIN_ENDED_USERS)
      this.#suspect('after acceptance');
  }

  #refusedUser(kind: 'unauthenticated' | 'forbidden', user: unknown): void {
    if (kind === 'forbidden') {
      this.#forbiddenUsers.add(user);
      return;
    }
    const nowMs = this.#now();
    this.#endedUsers.set(user, nowMs);
    for (const [other, atMs] of this.#endedUsers)
      if (atMs <= nowMs - ENDINGS_MS) this.#endedUsers.delete(other);
  }

  #accepted(): void {
    this.#wasAccepted = true;
    this.#clear();
    if (this.#misconfiguration === undefined) return;
    this.#misconfiguration = undefined;
    this.#onChange(undefined);
  }

  #suspect(misconfiguration: Misconfiguration): void {
    this.#misconfiguration = misconfiguration;
    this.#clear();
    this.#onChange(misconfiguration);
  }

  #clear(): void {
    this.#refusedTokens.clear();
    this.#forbiddenUsers.clear();
    this.#endedUsers.clear();
  }
}
