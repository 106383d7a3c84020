import { LocalRevoker, type LocalRevokerParts } from './local-revoker.js';
import { tokenKeyOf } from '../../contract/session-identity.js';
import type { SharedRevocations } from '../shared/shared-revocations.js';

/** Called for each refusal by the service, with the digest of the token. */
export type RefusalListener = (tokenKey: string, kind: 'unauthenticated' | 'forbidden') => void;

/** Ends sessions everywhere: in this process at once, and on the other instances as soon as they are told. */
export class SessionRevoker<User extends object | string | number | true> {
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
    const key = tokenKeyOf(token);
    this.#local.evict(key);
    await this.#shared?.evict(key);
  }

  /** Evicts a session that is about to be signed out, here at once; resolves when the other instances can know. */
  async signingOut(token: string): Promise<void> {
    const key = tokenKeyOf(token);
    this.#local.revoke(key);
    await this.#shared?.setTombstone(key);
  }

  /** The same when it is signed out. It is not cached again for as long as it could have been cached. */
  signedOut(token: string): void {
    const key = tokenKeyOf(token);
    this.#local.revoke(key);
    this.#local.notifyRevoked(key);
    void this.#shared?.publish({ kind: 'signedOut', token: key });
  }

  /** A sign-in issued this token. */
  signedIn(token: string): void {
    const key = tokenKeyOf(token);
    this.#local.signedIn(key);
    void this.#shared?.clearTombstone(key);
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
      signedOut: (token) => local.signedOutElsewhere(token),
      foundTombstone: (token) => local.foundTombstone(token),
      refused: (token) => local.refusedElsewhere(token),
      evicted: (token) => local.evict(token),
      userRevoked: (username) => local.revokeUser(username),
      allRevoked: () => local.revokeAll(),
      messagesLost: () => local.messagesLost(),
      isRevoked: (user, ageMs, token) => local.isRevoked(user, ageMs, token),
    });
  }

  /** Calls back for each session that the service refuses from now on, also with the cache off. @returns what ends that */
  onRefusal(listener: RefusalListener): () => void {
    this.#refusalListeners.add(listener);
    return () => void this.#refusalListeners.delete(listener);
  }

  /** The service refuses a session. If that was good before, the other instances are told. */
  refused(token: string, kind: 'unauthenticated' | 'forbidden'): void {
    for (const listener of this.#refusalListeners) listener(token, kind);
    const wasGoodHere = this.#local.isCached(token);
    if (wasGoodHere) this.#local.refusedHere(token);
    if (wasGoodHere && kind === 'unauthenticated') this.#local.notifyRevoked(token);
    void this.#shared?.refused(token, kind === 'unauthenticated' ? 'refused' : 'evicted', wasGoodHere);
  }
}
