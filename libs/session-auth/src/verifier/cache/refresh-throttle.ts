import { TtlLruMap } from './ttl-lru-map.js';

/** Milliseconds after which a failed refresh is repeated: a part of the time that it has. */
export function refreshPauseMs(refreshAheadMs: number): number {
  return refreshAheadMs / 4;
}

/** Which sessions are not refreshed for the moment, by the digests of their tokens. */
export class RefreshThrottle {
  readonly #refreshAheadMs: number;
  readonly #paused: TtlLruMap<true>;

  constructor({ maxEntries, refreshAheadMs }: { readonly maxEntries: number; readonly refreshAheadMs: number }, now: () => number) {
    this.#refreshAheadMs = refreshAheadMs;
    this.#paused = new TtlLruMap({ maxEntries, ttlMs: refreshAheadMs }, now);
  }

  /** Whether a session may be refreshed; if so, not again until a pause has passed. */
  tryStart(token: string): boolean {
    if (this.#paused.get(token)) return false;
    this.#pause(token, Math.max(1, refreshPauseMs(this.#refreshAheadMs)));
    return true;
  }

  /**
   * Ends the pause of a session that was cached anew. If the service shortened its lifetime, a pause of half that lifetime begins: an entry that
   * lives no longer than `refreshAheadMs` would be refreshed on each use.
   */
  entryStored(token: string, cacheForMs: number | undefined): void {
    this.#paused.delete(token);
    if (cacheForMs !== undefined && this.#refreshAheadMs > 0) this.#pause(token, cacheForMs / 2);
  }

  /** `refreshAheadMs` is the longest pause. */
  #pause(token: string, forMs: number): void {
    this.#paused.set(token, true, Math.max(0, this.#refreshAheadMs - forMs));
  }
}
