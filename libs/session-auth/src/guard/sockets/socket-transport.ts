import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import { denialOf, payloadOf } from '../denial.js';
import { rejectSocketMessage } from '../optional-packages.js';
import type { CallRequest, Transport } from '../transport.js';
import { acknowledgeAfter, acknowledgementOf } from './acknowledgement.js';
import { emitException, handshakeOf, type SocketClient } from './socket-client.js';

/**
 * Gateways, on socket.io and on ws. The token of a socket never changes, but each message has its own check, which the session cache and the
 * single flight make cheap. The user belongs to the message and not to the socket.
 */
export const WEB_SOCKET: Transport = {
  open: (context) => ({
    transport: WEB_SOCKET,
    context,
    request: openMessage(context, () => ({ ...handshakeOf(clientOf(context)) })),
  }),

  requestOf: findMessage,

  parameters: (context) => context.getArgByIndex(1),

  deny({ context }, denial) {
    const payload = payloadOf(denial);
    const rejection = rejectSocketMessage(denial, payload);
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

const REQUEST = Symbol('request');

/** Carries the request of a message among its arguments. Has no visible properties, because interceptors of an application may print arguments. */
class MessageBinding {
  readonly #request: CallRequest;

  constructor(request: CallRequest) {
    this.#request = request;
    Object.freeze(this);
  }

  get [REQUEST](): CallRequest {
    return this.#request;
  }
}

/** Lowest index of a binding. Nest passes client, payload and acknowledgement to a handler, and the name of the event last. */
const MIN_INDEX = 2;

/**
 * Returns the request of a message. Builds it for the first guard of the message. Guards, interceptors and parameter decorators each get their own
 * context and share only the arguments, so a binding is inserted before the last argument.
 */
function openMessage(context: ExecutionContext, build: () => CallRequest): CallRequest {
  return (bindingIn(context) ?? bind(context, build()))[REQUEST];
}

/** Returns the request of a message; `undefined` if no guard has opened it. */
function findMessage(context: ExecutionContext): CallRequest | undefined {
  return bindingIn(context)?.[REQUEST];
}

function bindingIn(context: ExecutionContext): MessageBinding | undefined {
  return context.getArgs<unknown[]>().find((argument): argument is MessageBinding => argument instanceof MessageBinding);
}

function bind(context: ExecutionContext, request: CallRequest): MessageBinding {
  const binding = new MessageBinding(request);
  const args = context.getArgs<unknown[]>();
  const last = Math.max(0, args.length - 1);
  const missing = Array.from({ length: Math.max(0, MIN_INDEX - last) }, () => undefined);
  args.splice(last, 0, ...missing, binding);
  return binding;
}
