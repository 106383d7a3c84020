import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import { payloadOf } from '../denial.js';
import { rejectMessage } from '../optional-packages.js';
import type { CallRequest, Transport } from '../transport.js';
import { emitException, handshakeOf, type SocketClient } from './socket-client.js';

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

const REQUEST = Symbol('request');

/** Stands for one message among its arguments. It shows nothing, because interceptors of an application may print their arguments. */
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

/** Nest hands a message to a handler as client, payload and acknowledgement, and the name of the event comes last. */
const FIRST_PLACE = 2;

/**
 * The request of one message, built when its first guard asks for it. Guards, interceptors and parameters of a message get a context each, and
 * all they have in common are the arguments: so a binding is put among these, before the last.
 */
export function openMessage(context: ExecutionContext, build: () => CallRequest): CallRequest {
  return (bindingIn(context) ?? bind(context, build()))[REQUEST];
}

/** The request of a message that a guard has seen; none of a message that passed no guard. */
export function findMessage(context: ExecutionContext): CallRequest | undefined {
  return bindingIn(context)?.[REQUEST];
}

function bindingIn(context: ExecutionContext): MessageBinding | undefined {
  return context.getArgs<unknown[]>().find((argument): argument is MessageBinding => argument instanceof MessageBinding);
}

function bind(context: ExecutionContext, request: CallRequest): MessageBinding {
  const binding = new MessageBinding(request);
  const args = context.getArgs<unknown[]>();
  const last = Math.max(0, args.length - 1);
  const missing = Array.from({ length: Math.max(0, FIRST_PLACE - last) }, () => undefined);
  args.splice(last, 0, ...missing, binding);
  return binding;
}
