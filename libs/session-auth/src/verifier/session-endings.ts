import { LocalSessions, type LocalSessionPlaces } from './local-sessions.js';
import { tokenKey } from './session-key.js';
import type { SharedRevocations } from './shared/shared-revocations.js';

/** Called for each refusal by the service, with the digest of the token. */
export type RefusalListener = (tokenKey: string, kind: 'rejected' | 'denied') => void;

/** Ends sessions everywhere: in this process at once, and on the other instances as soon as they are told. */
export class SessionEndings<User extends object | string | number | true> {
  readonly #local: LocalSessions<User>;
  readonly #shared: SharedRevocations | undefined;
  readonly #refusalListeners = new Set<RefusalListener>();

  constructor(places: LocalSessionPlaces<User>, shared?: SharedRevocations) {
    this.#local = new LocalSessions(places);
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
  async forget(token: string): Promise<void> {
    const key = tokenKey(token);
    this.#local.evict(key);
    await this.#shared?.forget(key);
  }

  /** Evicts a session that is about to be signed out, here at once; resolves when the other instances can know. */
  async signingOut(token: string): Promise<void> {
    const key = tokenKey(token);
    this.#local.bar(key);
    await this.#shared?.setTombstone(key);
  }

  /** The same when it is signed out. It is not cached again for as long as it could have been cached. */
  signedOut(token: string): void {
    const key = tokenKey(token);
    this.#local.bar(key);
    this.#local.tellEnded(key);
    void this.#shared?.publish({ kind: 'ended', token: key });
  }

  /** A sign-in issued this token. */
  signedIn(token: string): void {
    const key = tokenKey(token);
    this.#local.issued(key);
    void this.#shared?.clearTombstone(key);
  }

  /** Revokes every session of a user, here at once; resolves when the other instances can know. */
  async endUser(username: string): Promise<void> {
    this.#local.endUser(username);
    await this.#shared?.endUser(username);
  }

  /** Revokes every session, here at once; resolves when the other instances can know. */
  async endAll(): Promise<void> {
    this.#local.endAll();
    await this.#shared?.endAll();
  }

  /** Receives the revocations of other instances from now on. */
  listen(): void {
    const local = this.#local;
    this.#shared?.subscribe({
      ended: (token) => local.endedElsewhere(token),
      foundTombstone: (token) => local.foundTombstone(token),
      refused: (token) => local.refusedElsewhere(token),
      forgotten: (token) => local.evict(token),
      userEnded: (username) => local.endUser(username),
      allEnded: () => local.endAll(),
      lost: () => local.messagesLost(),
      isRevoked: (user, ageMs, token) => local.isRevoked(user, ageMs, token),
    });
  }

  /** Calls back for each session that the service refuses from now on, also with the cache off. @returns what ends that */
  onRefusal(listener: RefusalListener): () => void {
    this.#refusalListeners.add(listener);
    return () => void this.#refusalListeners.delete(listener);
  }

  /** The service refuses a session. If that was good before, the other instances are told. */
  refused(token: string, kind: 'rejected' | 'denied'): void {
    for (const listener of this.#refusalListeners) listener(token, kind);
    const wasGoodHere = this.#local.knows(token);
    if (wasGoodHere) this.#local.refusedHere(token);
    if (wasGoodHere && kind === 'rejected') this.#local.tellEnded(token);
    void this.#shared?.refused(token, kind === 'rejected' ? 'refused' : 'forgotten', wasGoodHere);
  }
}
