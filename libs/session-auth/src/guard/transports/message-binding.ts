import type { ExecutionContext } from '@nestjs/common';
import type { CallRequest } from './transport.js';

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
