import { TtlLruMap } from '../cache/ttl-lru-map.js';

/** For so long one end of a session is told once, however often it is heard of: here, from the service, from other instances. */
const MEMORY_MS = 60_000;
const MAX_ENTRIES = 10_000;

/** Tells of sessions that are over, by the digests of their tokens. */
export class RevocationNotifier {
  readonly #onRevoked: (token: string) => void;
  readonly #notified: TtlLruMap<true>;

  constructor(tell: (token: string) => void, now: () => number = () => performance.now()) {
    this.#onRevoked = tell;
    this.#notified = new TtlLruMap({ maxEntries: MAX_ENTRIES, ttlMs: MEMORY_MS }, now);
  }

  /** A session is over. */
  notify(token: string): void {
    if (this.#notified.get(token)) return;
    this.#notified.set(token, true);
    this.#onRevoked(token);
  }

  /** A sign-in gave this token again. */
  clear(token: string): void {
    this.#notified.delete(token);
  }
}
