import { LocalRevoker, type LocalRevokerParts } from './local-revoker.js';
import { type TokenKey, tokenKeyOf } from '../contract/session-identity.js';
import type { Revocation } from './revocation.js';
import type { SharedRevocations } from './shared-tier.js';

/** Called for each refusal by the service, with the digest of the token. */
type RefusalListener = (tokenKey: TokenKey, kind: 'unauthenticated' | 'forbidden') => void;

/**
 * Revokes and evicts sessions on all instances: synchronously in this process, and on the others when they
 * receive the message.
 */
export class SessionRevoker<User extends object> {
  readonly #local: LocalRevoker<User>;
  readonly #shared: SharedRevocations | undefined;
  readonly #refusalListeners = new Set<RefusalListener>();

  constructor(parts: LocalRevokerParts<User>, shared?: SharedRevocations) {
    this.#local = new LocalRevoker(parts);
    this.#shared = shared;
  }

  /**
   * Number of explicit revocations and evictions since startup. A check made at a lower count may be
   * outdated.
   */
  get count(): number {
    return this.#local.count;
  }

  /**
   * Returns whether the sessions of this user, or all sessions, were revoked since a time of the monotonic
   * clock.
   */
  isRevokedSince(user: unknown, timeMs: number): boolean {
    return this.#local.isRevoked(user, timeMs);
  }

  /**
   * Applies a revocation: synchronously here. Resolves after the first attempt to store and publish it, which
   * is repeated if it fails.
   */
  async apply(revocation: Revocation): Promise<void> {
    this.#local.apply(revocation);
    await this.#shared?.deliver(revocation);
  }

  /** Evicts a session: synchronously here, then on all instances. */
  evict(token: string): Promise<void> {
    return this.apply({ kind: 'evicted', tokenKey: tokenKeyOf(token) });
  }

  /**
   * Revokes a session that is about to be signed out: synchronously here. Resolves after the first attempt to
   * set its tombstone in the store.
   */
  async signingOut(token: string): Promise<void> {
    const tokenKey = tokenKeyOf(token);
    this.#local.revoke(tokenKey);
    await this.#shared?.setTombstone(tokenKey);
  }

  /**
   * Revokes a session that was signed out: sets its tombstone again, because a sign-in that issued this token
   * during the sign-out has removed it. Notifies the application, and the other instances.
   */
  signedOut(token: string): void {
    void this.apply({ kind: 'signedOut', tokenKey: tokenKeyOf(token) });
  }

  /** Removes the tombstone of a token that a sign-in has issued. */
  signedIn(token: string, user?: User): void {
    const tokenKey = tokenKeyOf(token);
    this.#local.signedIn(tokenKey, user);
    void this.#shared?.clearTombstone(tokenKey);
  }

  /** Subscribes to the revocations of other instances. */
  subscribe(): void {
    this.#shared?.subscribe(this.#local);
  }

  /**
   * Adds a listener, called for each session that the service refuses, also with the cache off. @returns a
   * function that removes it
   */
  onRefusal(listener: RefusalListener): () => void {
    this.#refusalListeners.add(listener);
    return () => void this.#refusalListeners.delete(listener);
  }

  /**
   * Handles a refusal by the service. If the session was cached here or stored, publishes the refusal to the
   * other instances.
   */
  refused(tokenKey: TokenKey, kind: 'unauthenticated' | 'forbidden'): void {
    for (const listener of this.#refusalListeners) listener(tokenKey, kind);
    const refusal = { kind: kind === 'unauthenticated' ? 'refused' : 'evicted', tokenKey } as const;
    const wasCached = this.#local.isCached(tokenKey);
    if (wasCached) this.#local.apply(refusal);
    void this.#shared?.refused(refusal, wasCached);
  }
}
