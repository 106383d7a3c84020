import type { ArgumentsHost } from '@nestjs/common';
import { payloadOf } from './denial-payload.js';
import { findMessage, openMessage } from './message-binding.js';
import { rejectMessage } from './optional-packages.js';
import { emitException, handshakeOf, type SocketClient } from './socket-client.js';
import type { Transport } from './transport.js';

/**
 * Gateways, on socket.io and on ws. The token stays the same for as long as the socket, and yet each message has a check of its own: memory and
 * shared flights make that cheap. The user belongs to the message and not to the socket.
 */
export const WEB_SOCKET: Transport = {
  open: (context) => ({
    transport: WEB_SOCKET,
    context,
    request: openMessage(context, () => ({ ...handshakeOf(clientOf(context)) })),
  }),

  requestOf: findMessage,

  parameters: (context) => context.getArgByIndex(1),

  deny: (_call, denial) => rejectMessage(denial, payloadOf(denial)),

  answer: (host, denial) => emitException(clientOf(host), payloadOf(denial)),
};

function clientOf(host: ArgumentsHost): SocketClient {
  return host.getArgByIndex(0);
}
