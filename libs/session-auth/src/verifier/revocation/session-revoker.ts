import { LocalRevoker, type LocalRevokerParts } from './local-revoker.js';
import { type TokenKey, tokenKeyOf } from '../../contract/session-identity.js';
import type { SharedRevocations } from '../shared/shared-revocations.js';

/** Called for each refusal by the service, with the digest of the token. */
type RefusalListener = (tokenKey: TokenKey, kind: 'unauthenticated' | 'forbidden') => void;

/** Revokes and evicts sessions on all instances: synchronously in this process, and on the others when they receive the message. */
export class SessionRevoker<User extends object> {
  readonly #local: LocalRevoker<User>;
  readonly #shared: SharedRevocations | undefined;
  readonly #refusalListeners = new Set<RefusalListener>();

  constructor(parts: LocalRevokerParts<User>, shared?: SharedRevocations) {
    this.#local = new LocalRevoker(parts);
    this.#shared = shared;
  }

  /** Number of explicit revocations and evictions since startup. A check made at a lower count may be outdated. */
  get count(): number {
    return this.#local.count;
  }

  /** Returns whether the sessions of this user, or all sessions, were revoked since a time of the monotonic clock. */
  isRevokedSince(user: unknown, timeMs: number): boolean {
    return this.#local.isRevoked(user, timeMs);
  }

  /** Evicts a session: synchronously here, then on all instances. */
  async evict(token: string): Promise<void> {
    const tokenKey = tokenKeyOf(token);
    this.#local.evict(tokenKey);
    await this.#shared?.evict(tokenKey);
  }

  /** Revokes a session that is about to be signed out: synchronously here. Resolves after the first attempt to set its tombstone in the store. */
  async signingOut(token: string): Promise<void> {
    const tokenKey = tokenKeyOf(token);
    this.#local.revoke(tokenKey);
    await this.#shared?.setTombstone(tokenKey);
  }

  /** Revokes a session that was signed out: synchronously here. Notifies the application, and publishes the sign-out to the other instances. */
  signedOut(token: string): void {
    const tokenKey = tokenKeyOf(token);
    this.#local.revoke(tokenKey);
    this.#local.notifyRevoked(tokenKey);
    // Again, because a sign-in that issued this token during the sign-out has removed the tombstone.
    void this.#shared?.setTombstone(tokenKey);
    void this.#shared?.publish({ kind: 'signedOut', tokenKey });
  }

  /** Removes the tombstone of a token that a sign-in has issued. */
  signedIn(token: string): void {
    const tokenKey = tokenKeyOf(token);
    this.#local.signedIn(tokenKey);
    void this.#shared?.clearTombstone(tokenKey);
  }

  /** Revokes every session of a user: synchronously here. Resolves after the first attempt to record and publish the revocation. */
  async revokeUser(username: string): Promise<void> {
    this.#local.revokeUser(username);
    await this.#shared?.revokeUser(username);
  }

  /** Revokes every session: synchronously here. Resolves after the first attempt to record and publish the revocation. */
  async revokeAll(): Promise<void> {
    this.#local.revokeAll();
    await this.#shared?.revokeAll();
  }

  /** Subscribes to the revocations of other instances. */
  subscribe(): void {
    const local = this.#local;
    this.#shared?.subscribe({
      signedOut: (tokenKey) => local.signedOutElsewhere(tokenKey),
      foundTombstone: (tokenKey) => local.foundTombstone(tokenKey),
      refused: (tokenKey) => local.refusedElsewhere(tokenKey),
      evicted: (tokenKey) => local.evict(tokenKey),
      userRevoked: (username) => local.revokeUser(username),
      allRevoked: () => local.revokeAll(),
      messagesLost: () => local.messagesLost(),
      isRevoked: (user, confirmedAtMs, tokenKey) => local.isRevoked(user, confirmedAtMs, tokenKey),
    });
  }

  /** Adds a listener, called for each session that the service refuses, also with the cache off. @returns a function that removes it */
  onRefusal(listener: RefusalListener): () => void {
    this.#refusalListeners.add(listener);
    return () => void this.#refusalListeners.delete(listener);
  }

  /** Handles a refusal by the service. If the session was cached here or stored, publishes the refusal to the other instances. */
  refused(tokenKey: TokenKey, kind: 'unauthenticated' | 'forbidden'): void {
    for (const listener of this.#refusalListeners) listener(tokenKey, kind);
    const wasCached = this.#local.isCached(tokenKey);
    if (wasCached) this.#local.refusedHere(tokenKey);
    if (wasCached && kind === 'unauthenticated') this.#local.notifyRevoked(tokenKey);
    void this.#shared?.refused(tokenKey, kind === 'unauthenticated' ? 'refused' : 'evicted', wasCached);
  }
}
