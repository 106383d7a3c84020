import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import type { SessionAuthError } from '../contract/errors.js';
import type { GuardDenial, RuleAnswer } from './denial.js';
import type { GuardedRequest } from './guarded-request.js';
import type { Challenges } from './challenges.js';
import type { HttpRequest } from './http-request.js';

/** The request of a call. It presents the session, and carries the user and the check. */
export type CallRequest = HttpRequest & GuardedRequest;

/** A call to a handler that is not public. */
export interface GuardedCall {
  readonly transport: Transport;
  readonly context: ExecutionContext;
  readonly request: CallRequest;
  /** The HTTP reply, if the call has one. */
  readonly reply?: unknown;
}

/**
 * The calls of fields, which Nest runs without an `ExecutionContext`, by the arguments of their resolvers.
 */
export interface FieldCalls {
  /** Returns the request of an admitted field, or that of the nearest admitted field above it. */
  admitted(args: readonly unknown[]): GuardedRequest | undefined;
  /** Returns an object that belongs to one call of a resolver. */
  keyOf(args: readonly unknown[]): object;
}

/** Reads tokens, stores users and denies calls in one kind of Nest context. */
export interface Transport {
  /** Returns the call of a context. */
  open(context: ExecutionContext): GuardedCall;
  /** Called when a guard admits the call. Throws if the handler must not run after all. */
  admitted?(call: GuardedCall): void;
  /**
   * Returns the request of a call that a guard has opened. It carries the admission of this call, if there is
   * one.
   */
  requestOf(context: ExecutionContext): GuardedRequest | undefined;
  /** Returns a request that carries the user of a call without an admission of its own. */
  inherited?(context: ExecutionContext): GuardedRequest | undefined;
  /**
   * Returns the parameters of a call: those of its route, the arguments of its field, or the payload of its
   * message.
   */
  parameters(context: ExecutionContext): unknown;
  /**
   * Rejects with the exception of this kind of context. Does not throw, because Nest handles a rejection at
   * half the cost.
   */
  deny(call: GuardedCall, denial: GuardDenial | RuleAnswer, challenges: Challenges): Promise<never>;
  /**
   * Responds to a `SessionAuthError` that neither a handler nor a filter of the application caught, where
   * Nest has no response to it.
   */
  answer?(host: ArgumentsHost, error: SessionAuthError): unknown;
  /** The calls of fields, if the kind has fields. */
  readonly fields?: FieldCalls;
}

/** Key of the request that a {@link CallBinding} carries. */
const REQUEST = Symbol('request');

/**
 * Carries the request of a call among its arguments. Has no visible properties, because interceptors of an
 * application may print arguments.
 */
class CallBinding {
  readonly #request: CallRequest;

  constructor(request: CallRequest) {
    this.#request = request;
    Object.freeze(this);
  }

  get [REQUEST](): CallRequest {
    return this.#request;
  }
}

/**
 * Binds a request to the call of a handler: as an argument at an index, or at the end, whichever is later.
 * Arguments are all that the guards, the interceptors and the parameter decorators of one call share, and
 * that no other call has: Nest gives one message to all handlers of its event, and a transporter may give one
 * object to all its messages.
 * @param tail number of arguments that stay behind the request
 */
export function bindRequest(
  host: ArgumentsHost,
  index: number,
  tail: number,
  request: CallRequest,
): CallRequest {
  const args = host.getArgs<unknown[]>();
  const behind = args.splice(Math.max(0, args.length - tail));
  while (args.length < index) args.push(undefined);
  args.push(new CallBinding(request), ...behind);
  return request;
}

/** Returns the request that is bound to a call; `undefined` if no guard has opened the call. */
export function boundRequest(host: ArgumentsHost): CallRequest | undefined {
  return host.getArgs<unknown[]>().find((argument) => argument instanceof CallBinding)?.[REQUEST];
}
