import { LocalRevoker, type LocalRevokerParts } from './local-revoker.js';
import { type TokenKey, tokenKeyOf } from '../../contract/session-identity.js';
import type { SharedRevocations } from '../shared/shared-revocations.js';

/** Called for each refusal by the service, with the digest of the token. */
export type RefusalListener = (tokenKey: TokenKey, kind: 'unauthenticated' | 'forbidden') => void;

/** Ends sessions everywhere: in this process at once, and on the other instances as soon as they are told. */
export class SessionRevoker<User extends object> {
  readonly #local: LocalRevoker<User>;
  readonly #shared: SharedRevocations | undefined;
  readonly #refusalListeners = new Set<RefusalListener>();

  constructor(places: LocalRevokerParts<User>, shared?: SharedRevocations) {
    this.#local = new LocalRevoker(places);
    this.#shared = shared;
  }

  /** How many sessions were revoked or evicted on purpose since the start. A check made at a lower count may no longer hold. */
  get count(): number {
    return this.#local.count;
  }

  /** Whether the sessions of this user, or all, were revoked within so many milliseconds. */
  revokedWithin(user: unknown, ageMs: number): boolean {
    return this.#local.isRevoked(user, ageMs);
  }

  /** Evicts a session, here at once and then on all instances. */
  async evict(token: string): Promise<void> {
    const tokenKey = tokenKeyOf(token);
    this.#local.evict(tokenKey);
    await this.#shared?.evict(tokenKey);
  }

  /** Evicts a session that is about to be signed out, here at once; resolves when the other instances can know. */
  async signingOut(token: string): Promise<void> {
    const tokenKey = tokenKeyOf(token);
    this.#local.revoke(tokenKey);
    await this.#shared?.setTombstone(tokenKey);
  }

  /** The same when it is signed out. It is not cached again for as long as it could have been cached. */
  signedOut(token: string): void {
    const tokenKey = tokenKeyOf(token);
    this.#local.revoke(tokenKey);
    this.#local.notifyRevoked(tokenKey);
    void this.#shared?.publish({ kind: 'signedOut', tokenKey });
  }

  /** A sign-in issued this token. */
  signedIn(token: string): void {
    const tokenKey = tokenKeyOf(token);
    this.#local.signedIn(tokenKey);
    void this.#shared?.clearTombstone(tokenKey);
  }

  /** Revokes every session of a user, here at once; resolves when the other instances can know. */
  async revokeUser(username: string): Promise<void> {
    this.#local.revokeUser(username);
    await this.#shared?.revokeUser(username);
  }

  /** Revokes every session, here at once; resolves when the other instances can know. */
  async revokeAll(): Promise<void> {
    this.#local.revokeAll();
    await this.#shared?.revokeAll();
  }

  /** Receives the revocations of other instances from now on. */
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
      isRevoked: (user, ageMs, tokenKey) => local.isRevoked(user, ageMs, tokenKey),
    });
  }

  /** Calls back for each session that the service refuses from now on, also with the cache off. @returns what ends that */
  onRefusal(listener: RefusalListener): () => void {
    this.#refusalListeners.add(listener);
    return () => void this.#refusalListeners.delete(listener);
  }

  /** The service refuses a session. If that was good before, the other instances are told. */
  refused(tokenKey: TokenKey, kind: 'unauthenticated' | 'forbidden'): void {
    for (const listener of this.#refusalListeners) listener(tokenKey, kind);
    const wasGoodHere = this.#local.isCached(tokenKey);
    if (wasGoodHere) this.#local.refusedHere(tokenKey);
    if (wasGoodHere && kind === 'unauthenticated') this.#local.notifyRevoked(tokenKey);
    void this.#shared?.refused(tokenKey, kind === 'unauthenticated' ? 'refused' : 'evicted', wasGoodHere);
  }
}
