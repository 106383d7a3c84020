import type { UserRecord } from '../contract/record/user-record.js';
import { SESSION_REJECTED } from '../contract/denials.js';
import { payloadOf } from '../kinds/client-denial.js';
import { holdMessages } from './held-messages.js';
import {
  disconnect,
  handshakeOf,
  storeUpgrade,
  type SocketClient,
  whenClosed,
} from '../kinds/socket-client.js';
import type { SessionSocketOptions } from './socket-options.js';
import type { ApplicationSockets } from './application-sockets.js';

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
    options: SessionSocketOptions,
  ): Promise<UserRecord | undefined> {
    const existing = this.#application.watchedOf(client);
    if (existing) {
      await existing.confirm();
      return existing.user;
    }
    if (client.handshake) {
      this.#denySocketIo(client);
      return undefined;
    }
    storeUpgrade(client, upgrade);
    const watched = this.#application.watch({
      client,
      request: handshakeOf(client),
      options,
      deny: (denial) => disconnect(client, payloadOf(denial)),
    });
    if (!watched) return undefined;
    this.#application.open(client, watched);
    whenClosed(client, () => watched.over());
    const messages = holdMessages(client);
    await watched.confirm();
    const { user } = watched;
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
