import type { CallRequest } from './transport.js';

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
