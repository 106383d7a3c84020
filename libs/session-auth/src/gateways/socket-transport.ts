import type { ArgumentsHost } from '@nestjs/common';
import { guardEveryHandler } from '../kinds/application-guards.js';
import { denialOf } from '../guard/denial.js';
import { payloadOf, PackageExceptions, type DenialPayload } from '../kinds/client-denial.js';
import type { ContextKind, Transport } from '../guard/transport.js';
import { bindRequest, boundRequest } from '../kinds/bound-request.js';
import { emitException, handshakeOf, isHandshakeKnown, type SocketClient } from '../kinds/socket-client.js';

const exceptions = new PackageExceptions(async () => (await import('@nestjs/websockets')).WsException);

/**
 * Lowest index of a bound request. Nest passes client, payload and acknowledgement to a handler, and the name
 * of the event last.
 */
const BOUND_INDEX = 2;

const WITHOUT_HANDSHAKE =
  'a message over ws had no token of its own, and the token of its handshake is unknown';

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

  unread({ context }, causes) {
    if (!isHandshakeKnown(clientOf(context))) causes.occurred('unprotected socket', 'ws', WITHOUT_HANDSHAKE);
  },

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

export const KIND: ContextKind = { transport: WEB_SOCKET, guardHandlers: guardEveryHandler };

/** socket.io ignores all answers but the first. */
type Acknowledge = (payload: DenialPayload) => void;

/**
 * Only socket.io has acknowledgements. Nest itself answers them with the result of a handler only, and the
 * client of a denied message would wait forever.
 */
function acknowledgementOf(host: ArgumentsHost): Acknowledge | undefined {
  const [client, acknowledge] = [host.getArgByIndex<SocketClient>(0), host.getArgByIndex<unknown>(2)];
  return client.handshake && typeof acknowledge === 'function' ? (acknowledge as Acknowledge) : undefined;
}

/** After the exception filters: one of the application that answers it itself comes first. */
function acknowledgeAfter(
  rejection: Promise<never>,
  acknowledge: Acknowledge,
  payload: DenialPayload,
): Promise<never> {
  // The next tick begins when no microtask is left, and filters run in a microtask.
  rejection.catch(() => process.nextTick(acknowledge, payload));
  return rejection;
}
