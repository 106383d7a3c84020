import type { UserRecord } from '../contract/record/user-record.js';
import { SESSION_REJECTED } from '../contract/denials.js';
import { payloadOf } from '../guard/denial.js';
import { DENIAL_WITHOUT_SESSION } from '../guard/session-reader.js';
import { holdMessages } from './held-messages.js';
import { disconnect, handshakeOf, storeUpgrade, type SocketClient } from '../guard/socket-client.js';
import { connectionContext } from './handshake-checks.js';
import type { SocketWatchSettings } from './socket-options.js';
import type { ApplicationSockets } from './application-sockets.js';

/** Checks sockets that are already open. */
export class OpenSocketChecks {
  readonly #application: ApplicationSockets;
  readonly #unprotected: () => void;

  /** @param unprotected called for a socket that can no longer be checked */
  constructor(application: ApplicationSockets, unprotected: () => void) {
    this.#application = application;
    this.#unprotected = unprotected;
  }

  /**
   * Checks a socket, holds messages to it until the verdict, and watches it. Never rejects. Returns no user
   * if the socket is closed.
   */
  async check(
    client: SocketClient,
    upgrade: unknown,
    settings: SocketWatchSettings,
  ): Promise<UserRecord | undefined> {
    const watched = this.#application.watchedOf(client);
    if (watched) return watched.start();
    if (client.handshake) {
      this.#denySocketIo(client);
      return undefined;
    }
    storeUpgrade(client, upgrade);
    const request = handshakeOf(client);
    const registration = this.#application.select(client, request);
    const session = registration?.parts.reader.read(connectionContext(client), request);
    if (!registration || typeof session !== 'object') {
      disconnect(
        client,
        payloadOf(typeof session === 'string' ? DENIAL_WITHOUT_SESSION[session] : SESSION_REJECTED),
      );
      return undefined;
    }
    const messages = holdMessages(client);
    const user = await this.#application.watch(registration, client, session, settings).start();
    if (user) messages.release();
    else messages.drop();
    return user;
  }

  /**
   * Broadcasts of a namespace bypass its sockets, so they can't be held. Also called for a socket that has
   * just been closed.
   */
  #denySocketIo(client: SocketClient): void {
    if (client.connected) this.#unprotected();
    disconnect(client, payloadOf(SESSION_REJECTED));
  }
}
