import type { ExecutionContext } from '@nestjs/common';
import { SESSION_REJECTED } from '../../contract/denials.js';
import type { SessionIdentity } from '../../contract/session-identity.js';
import type { GuardDenial } from '../../guard/denial.js';
import type { SocketClient } from '../../guard/sockets/socket-client.js';
import type { WatchedSocket } from '../../guard/sockets/watched-socket.js';
import type { CallRequest } from '../../guard/transport.js';
import { type AuthenticatedHandshake, connectionContext, type Handshake } from './handshake-checks.js';
import type { EndsWithSession } from './session-index.js';
import type { RegistrationSockets } from './registration-sockets.js';
import type { SocketWatchSettings } from './socket-options.js';

/** The other registrations of an application. */
export interface SocketSelector {
  /** Whether the option `authority` selects a registration for each connection. */
  readonly arePerCall: boolean;
  /** Returns the sockets of the registration that the option `authority` selects for a connection; `undefined` if there is no such registration. */
  socketsOf(context: ExecutionContext, request: CallRequest, own: RegistrationSockets): RegistrationSockets | undefined;
}

/** A handshake whose registration is not selected yet. */
export type UnassignedHandshake = Omit<Handshake, 'settle'> & {
  /** As `settle` of {@link Handshake}, with the registration that has decided. */
  readonly settle: (outcome: AuthenticatedHandshake | GuardDenial, registration: RegistrationSockets) => void;
};

/**
 * The sockets of an application, each with the registration that checks and watches it: that of `SessionSockets`, or the one that the option
 * `authority` selects.
 */
export class ApplicationSockets {
  /** The registration of `SessionSockets`. */
  readonly own: RegistrationSockets;
  readonly #table: SocketSelector | undefined;
  readonly #ofClient = new WeakMap<object, RegistrationSockets>();

  /** @param table the other registrations, if this is the one without a name */
  constructor(own: RegistrationSockets, table: SocketSelector | undefined) {
    this.own = own;
    this.#table = table;
  }

  /** Returns the registration that checks a socket; `undefined` if the option `authority` names none. */
  select(client: object, request: CallRequest): RegistrationSockets | undefined {
    if (!this.#table?.arePerCall) return this.own;
    return this.#table.socketsOf(connectionContext(client), request, this.own);
  }

  /** Checks a handshake by its registration. See `HandshakeChecks.begin`. A handshake without a registration is denied: its token is not read. */
  begin(handshake: UnassignedHandshake): EndsWithSession | undefined {
    const registration = this.select(handshake.client, handshake.request);
    if (registration) return registration.checks.begin({ ...handshake, settle: (outcome) => handshake.settle(outcome, registration) });
    handshake.settle(SESSION_REJECTED, this.own);
    return undefined;
  }

  /** Watches a socket for the registration that has checked it. */
  watch(registration: RegistrationSockets, client: SocketClient, session: SessionIdentity, settings: SocketWatchSettings): WatchedSocket {
    this.#ofClient.set(client, registration);
    return registration.watched.add(client, session, settings);
  }

  /** Returns the watched socket of a client; `undefined` if the client is not watched, or no longer. */
  watchedOf(client: object): WatchedSocket | undefined {
    return this.#ofClient.get(client)?.watched.of(client);
  }

  /** Returns the fingerprint of the session that a client's socket is watched for. Those of two registrations are never equal. */
  ownerOf(client: object): string | undefined {
    return this.#ofClient.get(client)?.watched.ownerOf(client);
  }
}
