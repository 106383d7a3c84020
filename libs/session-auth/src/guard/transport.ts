import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import type { SessionAuthError } from '../contract/errors.js';
import type { GuardDenial, RuleAnswer } from './denial.js';
import type { GuardedRequest } from './guarded-request.js';
import type { Challenges } from './http/challenges.js';
import type { HttpRequest } from './http/http-request.js';

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

/** Reads tokens, stores users and denies calls in one kind of Nest context. */
export interface Transport {
  /** Returns the call of a context. */
  open(context: ExecutionContext): GuardedCall;
  /** Called when a guard admits the call. Throws if the handler must not run after all. */
  admitted?(call: GuardedCall): void;
  /** Returns the request of an admitted call. */
  requestOf(context: ExecutionContext): GuardedRequest | undefined;
  /** Returns the parameters of a call: those of its route, the arguments of its field, or the payload of its message. */
  parameters(context: ExecutionContext): unknown;
  /** Rejects with the exception of this kind of context. Does not throw, because Nest handles a rejection at half the cost. */
  deny(call: GuardedCall, denial: GuardDenial | RuleAnswer, challenges: Challenges): Promise<never>;
  /** Responds to a `SessionAuthError` that neither a handler nor a filter of the application caught, where Nest has no response to it. */
  answer?(host: ArgumentsHost, error: SessionAuthError): unknown;
}

/** The requests of calls without an HTTP request, each stored as long as an object of its call exists. */
export class CallRequests {
  readonly #requests = new WeakMap<object, CallRequest>();

  /** Returns the request of a call. Builds it for the first guard of the call. */
  open(call: object, build: () => CallRequest): CallRequest {
    const existing = this.#requests.get(call);
    if (existing) return existing;
    const request = build();
    this.#requests.set(call, request);
    return request;
  }

  /** Returns the request of a call; `undefined` if no guard has opened it. */
  find(call: object): CallRequest | undefined {
    return this.#requests.get(call);
  }
}
