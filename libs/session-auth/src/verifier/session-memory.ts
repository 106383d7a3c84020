import { LRUCache } from 'lru-cache';
import { REJECTED, type Verdict } from '../contract/verdict.js';
import type { SessionKeys } from './session-key.js';

/** How long and how much is remembered. Milliseconds on a monotonic clock. */
export interface MemorySettings {
  /** How long a session is answered from memory; also how long one that was ended elsewhere may still work here. */
  readonly ttlMs: number;
  /** How long a refusal is answered from memory. */
  readonly negativeTtlMs: number;
  /** Sessions remembered at most; as many refusals and as many signed-out tokens beside them. */
  readonly maxEntries: number;
  /** How long before it lapses a session in use is asked about again. */
  readonly refreshAheadMs: number;
  /** How long after it lapsed a session is still good while the service is unavailable. */
  readonly staleIfErrorMs: number;
}

/** A session that the service confirmed. It is the verdict itself, so that a hit allocates nothing. */
export interface RememberedSession<User> {
  readonly kind: 'accepted';
  readonly user: User;
  readonly key: string;
  readonly verifiedAtMs: number;
  /** When it was last tried to confirm it again. */
  refreshedAtMs: number;
}

interface RememberedRefusal {
  readonly key: string;
  readonly refusedAtMs: number;
}

/** A failed refresh is repeated after this part of the time that it has. */
const REFRESH_PAUSE_PART = 4;

/** What this process remembers of sessions, keyed by digests. Every part is bounded, and none can push out another. */
export class SessionMemory<User> {
  readonly #settings: MemorySettings;
  readonly #now: () => number;
  readonly #sessions: LRUCache<string, RememberedSession<User>>;
  readonly #refusals: LRUCache<string, RememberedRefusal>;
  readonly #signedOut: LRUCache<string, number>;

  constructor(settings: MemorySettings, now: () => number = () => performance.now()) {
    this.#settings = settings;
    this.#now = () => Math.floor(now());
    this.#sessions = new LRUCache({ max: settings.maxEntries });
    this.#refusals = new LRUCache({ max: settings.maxEntries });
    this.#signedOut = new LRUCache({ max: settings.maxEntries });
  }

  /** What is known of a session and not older than its lifetime, nor than `maxAgeMs`. */
  find(keys: SessionKeys, maxAgeMs: number): RememberedSession<User> | typeof REJECTED | undefined {
    const session = this.#sessions.get(keys.token);
    if (session?.key === keys.session) {
      return this.#isYounger(session.verifiedAtMs, Math.min(this.#settings.ttlMs, maxAgeMs)) ? session : undefined;
    }
    const refusal = this.#refusals.get(keys.token);
    if (refusal?.key !== keys.session) return undefined;
    return this.#isYounger(refusal.refusedAtMs, Math.min(this.#settings.negativeTtlMs, maxAgeMs)) ? REJECTED : undefined;
  }

  /** A session that was confirmed before, for when the service can't say. */
  findStale(keys: SessionKeys): RememberedSession<User> | undefined {
    const session = this.#sessions.peek(keys.token);
    if (session?.key !== keys.session) return undefined;
    const { ttlMs, staleIfErrorMs } = this.#settings;
    return staleIfErrorMs > 0 && this.#now() - session.verifiedAtMs < ttlMs + staleIfErrorMs ? session : undefined;
  }

  /** Whether a remembered session should be asked about again while it is still good; says so once in a while. */
  claimRefresh(session: RememberedSession<User>): boolean {
    const { ttlMs, refreshAheadMs } = this.#settings;
    if (refreshAheadMs === 0) return false;
    const now = this.#now();
    if (now - session.verifiedAtMs < ttlMs - refreshAheadMs) return false;
    if (session.refreshedAtMs !== session.verifiedAtMs && now - session.refreshedAtMs < refreshAheadMs / REFRESH_PAUSE_PART) return false;
    session.refreshedAtMs = now;
    return true;
  }

  /** Takes in what the service said. An outage teaches nothing. */
  learn(keys: SessionKeys, verdict: Verdict<User>): void {
    if (verdict.kind === 'unavailable') return;
    if (verdict.kind === 'accepted') {
      this.#remember(keys, verdict.user);
      return;
    }
    this.#sessions.delete(keys.token);
    if (verdict.kind === 'rejected' && this.#settings.negativeTtlMs > 0) {
      this.#refusals.set(keys.token, { key: keys.session, refusedAtMs: this.#now() });
    }
  }

  /** Drops what is remembered of a token, under whatever IV. */
  forget(token: string): void {
    this.#sessions.delete(token);
    this.#refusals.delete(token);
  }

  /** Drops a token that is signed out, and remembers it no more for as long as it could have been remembered. */
  bar(token: string): void {
    this.forget(token);
    this.#signedOut.set(token, this.#now());
  }

  /** A sign-in gave this token: what was known against it is void. */
  pardon(token: string): void {
    this.#refusals.delete(token);
    this.#signedOut.delete(token);
  }

  #remember(keys: SessionKeys, user: User): void {
    const { ttlMs, staleIfErrorMs } = this.#settings;
    const now = this.#now();
    const signedOutAtMs = this.#signedOut.get(keys.token);
    if (signedOutAtMs !== undefined && now - signedOutAtMs < ttlMs + staleIfErrorMs) return;
    this.#refusals.delete(keys.token);
    this.#sessions.set(keys.token, { kind: 'accepted', user, key: keys.session, verifiedAtMs: now, refreshedAtMs: now });
  }

  #isYounger(thenMs: number, limitMs: number): boolean {
    return this.#now() - thenMs < limitMs;
  }
}
