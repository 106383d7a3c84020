import { type TokenKey, tokenKeyOf } from '../contract/session-identity.js';
import { type Revocation, Revocations } from './revocations.js';
import type { SessionCache } from './session-cache.js';
import { TtlLruMap } from './ttl-lru-map.js';
import type { KnownSessions } from './known-sessions.js';
import type { RevocationListener, SharedTier } from './shared-tier.js';
import type { SingleFlight } from './single-flight.js';

export interface SessionRevokerParts<User extends object> {
  readonly cache?: SessionCache<User> | undefined;
  readonly shared?: SharedTier<User> | undefined;
  readonly known: KnownSessions;
  readonly flights: Pick<SingleFlight<unknown>, 'detach' | 'closeToJoins'>;
  readonly onRevoked?: ((tokenKey: TokenKey) => void) | undefined;
  /** Called for each eviction of a session: its next check is by the service. */
  readonly onEvicted?: ((tokenKey: TokenKey) => void) | undefined;
  /** Called when every session of a user, or every session, is revoked. */
  readonly onUsersRevoked?: ((username: string | undefined) => void) | undefined;
  /** Called if one of these, or a listener of refusals, throws. It changes nothing for the session. */
  readonly listenerFailed?: ((error: unknown) => void) | undefined;
}

type RefusalListener = (tokenKey: TokenKey, kind: 'unauthenticated' | 'forbidden') => void;

/** Milliseconds that a revocation is kept without a cache: longer than any check takes. */
const UNCACHED_REVOCATION_MS = 300_000;
/** A refusal that repeats within a minute is a duplicate: it may arrive from other instances too. */
const DUPLICATE_MS = 60_000;
const MAX_NOTIFIED = 10_000;

/**
 * Revokes and evicts sessions: synchronously in this process, and on the others when they receive the
 * message.
 */
export class SessionRevoker<User extends object> implements RevocationListener {
  readonly #parts: SessionRevokerParts<User>;
  readonly #revocations: Revocations;
  readonly #notified = new TtlLruMap<TokenKey, true>({ maxEntries: MAX_NOTIFIED, ttlMs: DUPLICATE_MS });
  readonly #refusalListeners: RefusalListener[] = [];
  /** Number of revocations and evictions since startup. A check made at a lower count may be outdated. */
  count = 0;

  constructor(parts: SessionRevokerParts<User>) {
    this.#parts = parts;
    this.#revocations = parts.cache?.revocations ?? new Revocations(UNCACHED_REVOCATION_MS);
  }

  isRevokedSince(user: unknown, timeMs: number, tokenKey?: TokenKey): boolean {
    return this.#revocations.revokes(user, timeMs, tokenKey);
  }

  async apply(revocation: Revocation): Promise<void> {
    this.receive(revocation);
    await this.#parts.shared?.deliver(revocation);
  }

  evict(token: string): Promise<void> {
    return this.apply({ kind: 'evicted', tokenKey: tokenKeyOf(token) });
  }

  signingOut(token: string): Promise<void> {
    return this.apply({ kind: 'signingOut', tokenKey: tokenKeyOf(token) });
  }

  /**
   * Revokes a session that was signed out, and notifies. Sets its tombstone again, because a sign-in that
   * issued this token during the sign-out has removed it.
   */
  signedOut(token: string): void {
    void this.apply({ kind: 'signedOut', tokenKey: tokenKeyOf(token) });
  }

  /** Handles a token that a sign-in has issued: earlier refusals, and calls in flight, no longer count. */
  signedIn(token: string, user?: User): void {
    const { cache, flights, known, shared } = this.#parts;
    const tokenKey = tokenKeyOf(token);
    // The store may still have an answer from before the sign-out.
    if (cache?.hasTombstone(tokenKey)) this.#revokeAnswers({ kind: 'evicted', tokenKey });
    else flights.detach(tokenKey);
    cache?.clearTombstone(tokenKey);
    known.add(tokenKey, user);
    void shared?.clearTombstone(tokenKey);
  }

  subscribe(): void {
    this.#parts.shared?.subscribe(this);
  }

  onRefusal(listener: RefusalListener): void {
    this.#refusalListeners.push(listener);
  }

  refused(tokenKey: TokenKey, kind: 'unauthenticated' | 'forbidden'): void {
    const { cache, shared } = this.#parts;
    for (const listener of this.#refusalListeners) this.#notify(() => listener(tokenKey, kind));
    const refusal = { kind: kind === 'unauthenticated' ? 'refused' : 'evicted', tokenKey } as const;
    const wasCached = cache?.has(tokenKey) === true;
    if (wasCached) this.receive(refusal);
    void shared?.refused(refusal, wasCached);
  }

  /** A check that begins may admit the session, so that its next revocation is emitted in any case. */
  checkBegins(tokenKey: TokenKey): void {
    this.#notified.delete(tokenKey);
  }

  /**
   * Applies a revocation of this or another instance. A session that is not signed out may be cached again,
   * but not by a call in flight.
   */
  receive(revocation: Revocation): void {
    const { cache, known, onUsersRevoked } = this.#parts;
    this.#revokeAnswers(revocation);
    switch (revocation.kind) {
      case 'signingOut':
      case 'signedOut':
        // Also if it has a tombstone: the token may have been issued again elsewhere since.
        cache?.setTombstone(revocation.tokenKey);
        known.delete(revocation.tokenKey);
        // Each sign-out arrives once. Since it began, its tombstone may have been found, and the session
        // admitted again.
        if (revocation.kind === 'signedOut') this.#emit(revocation.tokenKey);
        break;
      case 'refused':
        cache?.evictAuthenticated(revocation.tokenKey);
        this.#emitOnce(revocation.tokenKey);
        break;
      case 'evicted':
        cache?.evict(revocation.tokenKey);
        this.#notify(() => this.#parts.onEvicted?.(revocation.tokenKey));
        break;
      case 'userRevoked':
        this.#notify(() => onUsersRevoked?.(revocation.username));
        break;
      case 'allRevoked':
        this.#notify(() => onUsersRevoked?.(undefined));
    }
  }

  /** Revokes only once, because every check of the session finds the tombstone. */
  foundTombstone(tokenKey: TokenKey): void {
    if (this.#parts.cache?.hasTombstone(tokenKey)) this.#parts.flights.detach(tokenKey);
    else this.receive({ kind: 'signingOut', tokenKey });
    this.#emitOnce(tokenKey);
  }

  messagesLost(): void {
    this.count += 1;
    this.#revocations.addMessageLoss();
    this.#evictAll();
  }

  /** Neither answers in flight nor those of the store count any longer. */
  #revokeAnswers(revocation: Revocation): void {
    this.count += 1;
    if ('tokenKey' in revocation) this.#parts.flights.detach(revocation.tokenKey);
    if (this.#revocations.add(revocation) === 'all') this.#evictAll();
    // All flights: the user of a flight is unknown until its answer arrives.
    else if ('username' in revocation) this.#parts.flights.closeToJoins();
  }

  #evictAll(): void {
    this.#parts.cache?.evictAllAuthenticated();
    this.#parts.flights.closeToJoins();
  }

  #emit(tokenKey: TokenKey): void {
    this.#notified.set(tokenKey, true);
    this.#notify(() => this.#parts.onRevoked?.(tokenKey));
  }

  #notify(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#parts.listenerFailed?.(error);
    }
  }

  #emitOnce(tokenKey: TokenKey): void {
    if (!this.#notified.get(tokenKey)) this.#emit(tokenKey);
  }
}
