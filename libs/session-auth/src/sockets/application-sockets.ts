import { SESSION_REJECTED } from '../contract/denials.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { GuardDenial } from '../guard/denial.js';
import type { SocketClient } from '../guard/socket-client.js';
import type { WatchedSocket } from './watched-socket.js';
import type { GuardParts } from '../guard/guard-parts.js';
import type { CallRequest } from '../guard/transport.js';
import { type AuthenticatedHandshake, connectionContext, type Handshake } from './handshake-checks.js';
import type { EndsWithSession } from './session-index.js';
import { RegistrationSockets } from './registration-sockets.js';
import type { SocketWatchSettings } from './socket-options.js';

/** A handshake whose registration is not selected yet. */
export type UnassignedHandshake = Omit<Handshake, 'settle'> & {
  /** As `settle` of {@link Handshake}, with the registration that has decided. */
  readonly settle: (outcome: AuthenticatedHandshake | GuardDenial, registration: RegistrationSockets) => void;
};

/**
 * The sockets of an application, each with the registration that checks and watches it: that of
 * `SessionSockets`, or the one that the option `authority` selects.
 */
export class ApplicationSockets {
  /** The registration of `SessionSockets`. */
  readonly own: RegistrationSockets;
  readonly #all = new Set<RegistrationSockets>();
  readonly #ofClient = new WeakMap<object, RegistrationSockets>();

  constructor(parts: GuardParts) {
    this.own = RegistrationSockets.of(parts);
    this.#all.add(this.own);
  }

  /** Returns the registration that checks a socket; `undefined` if the option `authority` names none. */
  select(client: object, request: CallRequest): RegistrationSockets | undefined {
    const { parts } = this.own;
    if (!parts.authorities?.arePerCall) return this.own;
    const selected: Partial<GuardParts> | undefined = parts.authorities.partsOf(
      connectionContext(client),
      request,
      parts,
    );
    // Parts of an older copy of this package have no ends: their sockets would stay open.
    if (!selected?.ends) return undefined;
    const sockets = RegistrationSockets.of(selected as GuardParts);
    this.#all.add(sockets);
    return sockets;
  }

  /** Stops watching. Does not close the sockets. */
  stop(): void {
    for (const sockets of this.#all) sockets.stop();
  }

  /**
   * Checks a handshake by its registration. See `HandshakeChecks.begin`. A handshake without a registration
   * is denied: its token is not read.
   */
  begin(handshake: UnassignedHandshake): EndsWithSession | undefined {
    const registration = this.select(handshake.client, handshake.request);
    if (registration)
      return registration.checks.begin({
        ...handshake,
        settle: (outcome) => handshake.settle(outcome, registration),
      });
    handshake.settle(SESSION_REJECTED, this.own);
    return undefined;
  }

  /** Watches a socket for the registration that has checked it. */
  watch(
    registration: RegistrationSockets,
    client: SocketClient,
    session: SessionIdentity,
    settings: SocketWatchSettings,
  ): WatchedSocket {
    this.#ofClient.set(client, registration);
    return registration.watched.add(client, session, settings);
  }

  /** Returns the watched socket of a client; `undefined` if the client is not watched, or no longer. */
  watchedOf(client: object): WatchedSocket | undefined {
    return this.#ofClient.get(client)?.watched.of(client);
  }

  /**
   * Returns the fingerprint of the session that a client's socket is watched for. Those of two registrations
   * are never equal.
   */
  ownerOf(client: object): string | undefined {
    return this.#ofClient.get(client)?.watched.ownerOf(client);
  }
}
