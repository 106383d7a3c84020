import type { TokenKey } from '../contract/session-identity.js';
import { TtlLruMap } from './ttl-lru-map.js';

/**
 * Milliseconds within which a repeated refusal is a duplicate: it may arrive from the service and from other
 * instances.
 */
const DUPLICATE_MS = 60_000;
const MAX_ENTRIES = 10_000;

/** Emits the revocations of sessions, keyed by token digest. */
export class RevocationNotifier {
  readonly #onRevoked: (tokenKey: TokenKey) => void;
  readonly #notified: TtlLruMap<TokenKey, true>;

  constructor(onRevoked: (tokenKey: TokenKey) => void, now: () => number = () => performance.now()) {
    this.#onRevoked = onRevoked;
    this.#notified = new TtlLruMap({ maxEntries: MAX_ENTRIES, ttlMs: DUPLICATE_MS }, now);
  }

  /** Emits the revocation of a session. */
  emit(tokenKey: TokenKey): void {
    this.#notified.set(tokenKey, true);
    this.#onRevoked(tokenKey);
  }

  /**
   * Emits the revocation of a session, unless one was emitted within the last minute, and no check has begun
   * since.
   */
  emitOnce(tokenKey: TokenKey): void {
    if (!this.#notified.get(tokenKey)) this.emit(tokenKey);
  }

  /**
   * Called when a check begins. It may admit the session, so that the next revocation is emitted in any case.
   */
  checkBegins(tokenKey: TokenKey): void {
    this.#notified.delete(tokenKey);
  }
}
