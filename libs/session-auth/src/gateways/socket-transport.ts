import type { ArgumentsHost } from '@nestjs/common';
import { denialOf, payloadOf } from '../guard/denial.js';
import { PackageExceptions } from '../guard/package-exceptions.js';
import { bindRequest, boundRequest, type Transport } from '../guard/transport.js';
import { acknowledgeAfter, acknowledgementOf } from './acknowledgement.js';
import { emitException, handshakeOf, type SocketClient } from '../guard/socket-client.js';

const exceptions = new PackageExceptions(async () => (await import('@nestjs/websockets')).WsException);

/**
 * Lowest index of a bound request. Nest passes client, payload and acknowledgement to a handler, and the name
 * of the event last.
 */
const BOUND_INDEX = 2;

/**
 * Gateways, on socket.io and on ws. The token of a socket never changes, but each message has its own check,
 * which the session cache and the single flight make cheap. The user belongs to the message and not to the
 * socket.
 */
export const WEB_SOCKET: Transport = {
  open: (context) => ({
    transport: WEB_SOCKET,
    context,
    request:
      boundRequest(context) ?? bindRequest(context, BOUND_INDEX, 1, { ...handshakeOf(clientOf(context)) }),
  }),

  requestOf: boundRequest,

  parameters: (context) => context.getArgByIndex(1),

  deny({ context }, denial) {
    const payload = payloadOf(denial);
    const rejection = exceptions.reject(denial, payload);
    const acknowledge = acknowledgementOf(context);
    return acknowledge ? acknowledgeAfter(rejection, acknowledge, payload) : rejection;
  },

  answer(host, error) {
    const payload = payloadOf(denialOf(error));
    emitException(clientOf(host), payload);
    acknowledgementOf(host)?.(payload);
  },
};

function clientOf(host: ArgumentsHost): SocketClient {
  return host.getArgByIndex(0);
}
