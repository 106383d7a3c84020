import { ACCESS_DENIED, SESSION_REJECTED } from '../contract/denials.js';
import { someUsername } from '../contract/record/user-record.js';
import type { GuardDenial } from '../guard/denial.js';
import type { GuardParts } from '../guard/guard-parts.js';
import { HandshakeChecks } from './handshake-checks.js';
import { WatchedSockets } from './watched-sockets.js';

const ofParts = new WeakMap<GuardParts, RegistrationSockets>();

/**
 * The sockets of one registration: their handshakes, and the open ones, which close when their session ends.
 */
export class RegistrationSockets {
  readonly parts: GuardParts;
  readonly checks: HandshakeChecks;
  readonly watched: WatchedSockets;

  private constructor(parts: GuardParts) {
    const { ends } = parts;
    this.parts = parts;
    this.checks = new HandshakeChecks(parts);
    this.watched = new WatchedSockets(parts);
    ends.ended.subscribe((fingerprint) => this.#close(fingerprint, SESSION_REJECTED));
    ends.forgottenUsers.subscribe((username) => this.#closeUser(username));
    ends.refused((key, kind) => {
      if (this.watched.index.size > 0) this.#closeLater(ends.fingerprintOf(key), kind);
    });
  }

  /** Returns the sockets of the registration with these parts: each has one. */
  static of(parts: GuardParts): RegistrationSockets {
    const existing = ofParts.get(parts);
    if (existing) return existing;
    const sockets = new RegistrationSockets(parts);
    ofParts.set(parts, sockets);
    return sockets;
  }

  /** Stops watching. Does not close the sockets. */
  stop(): void {
    for (const socket of this.watched.index.all()) socket.stop();
  }

  /**
   * Called after any refused check of a session. Deferred, so that the message that was checked gets its own
   * denial first.
   */
  #closeLater(fingerprint: string, kind: 'unauthenticated' | 'forbidden'): void {
    if (this.watched.index.countOf(fingerprint) === 0) return;
    setImmediate(() => this.#close(fingerprint, kind === 'forbidden' ? ACCESS_DENIED : SESSION_REJECTED));
  }

  /**
   * Closes the sockets of a user, or all. Handshakes and first checks in progress are repeated instead: see
   * `verifyForSocket`.
   */
  #closeUser(username: string | undefined): void {
    const isRevoked = (user: object | undefined): boolean =>
      user !== undefined && someUsername(user, (name) => name === username);
    this.watched.index.endWhere(({ user }) => username === undefined || isRevoked(user), SESSION_REJECTED);
  }

  #close(fingerprint: string, denial: GuardDenial): void {
    this.checks.waiting.end(fingerprint, denial);
    this.watched.index.end(fingerprint, denial);
  }
}
