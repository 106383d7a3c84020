import type { TokenKey } from '../../contract/session-identity.js';
import { TtlLruMap } from '../cache/ttl-lru-map.js';

/** Milliseconds within which a repeated revocation is a duplicate: it may arrive from here, the service and other instances. */
const DUPLICATE_MS = 60_000;
const MAX_ENTRIES = 10_000;

/** Emits one event per revoked session, keyed by token digest. */
export class RevocationNotifier {
  readonly #onRevoked: (tokenKey: TokenKey) => void;
  readonly #notified: TtlLruMap<TokenKey, true>;

  constructor(onRevoked: (tokenKey: TokenKey) => void, now: () => number = () => performance.now()) {
    this.#onRevoked = onRevoked;
    this.#notified = new TtlLruMap({ maxEntries: MAX_ENTRIES, ttlMs: DUPLICATE_MS }, now);
  }

  /** Emits the revocation of a session, unless it was emitted within the last minute. */
  notify(tokenKey: TokenKey): void {
    if (this.#notified.get(tokenKey)) return;
    this.#notified.set(tokenKey, true);
    this.#onRevoked(tokenKey);
  }

  /** Emits the next revocation of this token in any case: a sign-in has issued it again. */
  clear(tokenKey: TokenKey): void {
    this.#notified.delete(tokenKey);
  }
}
