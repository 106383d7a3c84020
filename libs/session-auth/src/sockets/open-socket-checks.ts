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
import type { WatchedSockets } from './watched-sockets.js';

/**
 * Checks an open socket, holds messages to it until the verdict, and watches it. Never rejects. Returns no
 * user if the socket is closed.
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
    // Broadcasts of a namespace bypass its sockets, so they can't be held.
    if (client.connected) application.own.causes.occurred('unprotected socket');
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
  const messages = holdMessages(client);
  await watched.confirm();
  const { user } = watched;
  if (user) messages.release();
  else messages.drop();
  return user;
}
