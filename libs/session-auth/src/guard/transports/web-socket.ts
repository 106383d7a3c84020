import type { ArgumentsHost } from '@nestjs/common';
import { payloadOf } from './denial-payload.js';
import { KeptRequests } from './kept-requests.js';
import { rejectMessage } from './optional-packages.js';
import { emitException, handshakeOf, type SocketClient } from './socket-client.js';
import { SocketUsers } from './socket-users.js';
import type { Transport } from './transport.js';

const messages = new KeptRequests();
const users = new WeakMap<SocketClient, SocketUsers>();

/**
 * Gateways, on socket.io and on ws. The token stays the same for as long as the socket, and yet each message has a check of its own: memory and
 * shared flights make that cheap.
 */
export const WEB_SOCKET: Transport = {
  open(context) {
    // The guards of one message share its context.
    return { transport: WEB_SOCKET, context, request: messages.open(context, () => ({ ...handshakeOf(clientOf(context)) })) };
  },

  admitted({ context, request }, presented) {
    const client = clientOf(context);
    const ofSocket = users.get(client) ?? new SocketUsers();
    users.set(client, ofSocket);
    ofSocket.keep(context, request, presented);
  },

  requestOf(context) {
    const client = clientOf(context);
    return users.get(client)?.find(context, handshakeOf(client));
  },

  parameters: (context) => context.getArgByIndex(1),

  deny: (_call, denial) => rejectMessage(denial, payloadOf(denial)),

  answer: (host, denial) => emitException(clientOf(host), payloadOf(denial)),
};

function clientOf(host: ArgumentsHost): SocketClient {
  return host.getArgByIndex(0);
}
