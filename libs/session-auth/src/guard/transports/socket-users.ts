import type { ExecutionContext } from '@nestjs/common';
import type { PresentedSessions } from '../presented-session.js';
import type { CallRequest } from './transport.js';

/** More sessions than this speak through one socket only where a server speaks for its own users. */
const MAX_SESSIONS = 256;

/**
 * The users of one socket, by the tokens that its messages present. Nest gives guards and parameters of a message nothing else in common
 * that is the message's own.
 */
export class SocketUsers {
  readonly #requests = new Map<string, CallRequest>();
  #presented: PresentedSessions | undefined;

  /** Keeps the request of a message that was let in, as somebody or as nobody. */
  keep(context: ExecutionContext, request: CallRequest, presented: PresentedSessions): void {
    this.#presented = presented;
    const token = this.#tokenOf(context, request);
    if (token === undefined) return;
    this.#requests.delete(token);
    this.#requests.set(token, request);
    const [eldest] = this.#requests.keys();
    if (this.#requests.size > MAX_SESSIONS && eldest !== undefined) this.#requests.delete(eldest);
  }

  /** The request of the session that a message presents, as it was let in last. */
  find(context: ExecutionContext, request: CallRequest): CallRequest | undefined {
    const token = this.#tokenOf(context, request);
    return token === undefined ? undefined : this.#requests.get(token);
  }

  #tokenOf(context: ExecutionContext, request: CallRequest): string | undefined {
    const session = this.#presented?.read(context, request);
    return typeof session === 'object' ? session.token : undefined;
  }
}
