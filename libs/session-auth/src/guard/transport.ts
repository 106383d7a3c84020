import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import type { HttpDenial } from './denial.js';
import type { GuardedRequest } from './guarded-request.js';
import type { HttpRequest } from './http/http-request.js';

/** What a call presents, and what its user and its verdict are kept with. */
export type CallRequest = HttpRequest & GuardedRequest;

/** One call on its way to a handler that is not open to everyone. */
export interface GuardedCall {
  readonly transport: Transport;
  readonly context: ExecutionContext;
  readonly request: CallRequest;
  /** The HTTP reply, where there is one. */
  readonly reply?: unknown;
}

/** How one kind of Nest context carries a token, keeps a user and says no. */
export interface Transport {
  open(context: ExecutionContext): GuardedCall;
  /** Called when a guard admits the call. It throws where the handler must not run after all. */
  admitted?(call: GuardedCall): void;
  /** The request of a call that was let in. */
  requestOf(context: ExecutionContext): GuardedRequest | undefined;
  /** What the call is about: route parameters, the arguments of a field, or the payload of a message. */
  parameters(context: ExecutionContext): unknown;
  /** Rejects with the exception that this context answers with. Not a throw, because Nest takes a rejection at half the price. */
  deny(call: GuardedCall, denial: HttpDenial): Promise<never>;
  /** Answers an error of the service class that a handler let through, where Nest's filter of HTTP can't. */
  answer?(host: ArgumentsHost, denial: HttpDenial): unknown;
}

/** The requests of calls that have none of HTTP, each kept for as long as something of its call is there. */
export class CallRequests {
  readonly #requests = new WeakMap<object, CallRequest>();

  /** The request of a call, built when the first guard of the call asks for it. */
  open(call: object, build: () => CallRequest): CallRequest {
    const known = this.#requests.get(call);
    if (known) return known;
    const request = build();
    this.#requests.set(call, request);
    return request;
  }

  find(call: object): CallRequest | undefined {
    return this.#requests.get(call);
  }
}
