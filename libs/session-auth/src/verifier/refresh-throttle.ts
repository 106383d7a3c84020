import type { TokenKey } from '../contract/session-identity.js';
import { TtlLruMap } from './ttl-lru-map.js';

/** Returns the milliseconds after which a failed refresh is repeated: a quarter of `refreshAheadMs`. */
export function refreshPauseMs(refreshAheadMs: number): number {
  return refreshAheadMs / 4;
}

/** Prevents repeated refreshes of a session, by token digest. */
export class RefreshThrottle {
  readonly #refreshAheadMs: number;
  readonly #now: () => number;
  readonly #paused: TtlLruMap<TokenKey, true>;

  constructor(
    { maxEntries, refreshAheadMs }: { readonly maxEntries: number; readonly refreshAheadMs: number },
    now: () => number,
  ) {
    this.#refreshAheadMs = refreshAheadMs;
    this.#now = now;
    this.#paused = new TtlLruMap({ maxEntries, ttlMs: refreshAheadMs }, now);
  }

  /**
   * Returns whether a session may be refreshed. If so, starts a pause during which it may not be refreshed
   * again.
   */
  tryStart(tokenKey: TokenKey): boolean {
    if (this.#paused.get(tokenKey)) return false;
    this.#pause(tokenKey, Math.max(1, refreshPauseMs(this.#refreshAheadMs)));
    return true;
  }

  /**
   * Ends the pause of a session that was cached again. If the service shortened its lifetime, a pause of half
   * that lifetime begins: otherwise an entry with a lifetime of at most `refreshAheadMs` would be refreshed
   * on each use.
   */
  entryStored(tokenKey: TokenKey, cacheForMs: number | undefined): void {
    this.#paused.delete(tokenKey);
    if (cacheForMs !== undefined && this.#refreshAheadMs > 0) this.#pause(tokenKey, cacheForMs / 2);
  }

  /** `refreshAheadMs` is the longest pause. */
  #pause(tokenKey: TokenKey, forMs: number): void {
    this.#paused.set(tokenKey, true, this.#now() - Math.max(0, this.#refreshAheadMs - forMs));
  }
}
