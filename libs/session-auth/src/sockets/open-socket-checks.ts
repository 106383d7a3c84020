import type { UserRecord } from '../contract/record/user-record.js';
import { SESSION_REJECTED } from '../contract/denials.js';
import { payloadOf } from '../kinds/client-denial.js';
import {
  disconnect,
  handshakeOf,
  storeUpgrade,
  type SocketClient,
  whenClosed,
} from '../kinds/socket-client.js';
import type { SessionSocketOptions } from './socket-options.js';
import type { WatchedSockets } from './watched-sockets.js';

const DISCONNECTED = 'an open socket.io socket was disconnected';

/**
 * Checks an open socket, and watches it. Never rejects. Returns no user if the socket is closed.
 */
export async function checkOpenSocket(
  application: WatchedSockets,
  client: SocketClient,
  upgrade: unknown,
  options: SessionSocketOptions,
): Promise<UserRecord | undefined> {
  const existing = application.watchedOf(client);
  if (existing) {
    await existing.confirm();
    return existing.user;
  }
  if (client.handshake) {
    // Broadcasts of its namespace reach it already.
    if (client.connected) application.own.causes.occurred('unprotected socket', 'socket.io', DISCONNECTED);
    disconnect(client, payloadOf(SESSION_REJECTED));
    return undefined;
  }
  storeUpgrade(client, upgrade);
  const watched = application.watch({
    client,
    request: handshakeOf(client),
    options,
    deny: (denial) => disconnect(client, payloadOf(denial)),
  });
  if (!watched) return undefined;
  application.open(client, watched);
  whenClosed(client, () => watched.over());
  await watched.confirm();
  return watched.user;
}
