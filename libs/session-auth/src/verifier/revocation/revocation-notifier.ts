import type { TokenKey } from '../../contract/session-identity.js';
import { TtlLruMap } from '../cache/ttl-lru-map.js';

/** For so long one end of a session is told once, however often it is heard of: here, from the service, from other instances. */
const MEMORY_MS = 60_000;
const MAX_ENTRIES = 10_000;

/** Tells of sessions that are over, by the digests of their tokens. */
export class RevocationNotifier {
  readonly #onRevoked: (tokenKey: TokenKey) => void;
  readonly #notified: TtlLruMap<TokenKey, true>;

  constructor(tell: (tokenKey: TokenKey) => void, now: () => number = () => performance.now()) {
    this.#onRevoked = tell;
    this.#notified = new TtlLruMap({ maxEntries: MAX_ENTRIES, ttlMs: MEMORY_MS }, now);
  }

  /** A session is over. */
  notify(tokenKey: TokenKey): void {
    if (this.#notified.get(tokenKey)) return;
    this.#notified.set(tokenKey, true);
    this.#onRevoked(tokenKey);
  }

  /** A sign-in gave this token again. */
  clear(tokenKey: TokenKey): void {
    this.#notified.delete(tokenKey);
  }
}
