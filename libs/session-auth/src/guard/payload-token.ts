import { callParameter } from './call-parameter.js';
import type { FoundToken, TokenSource } from './token-source.js';

const MESSAGES: ReadonlySet<string> = new Set(['ws', 'rpc']);

/**
 * The token is a field of a message's payload: the one way over TCP and Redis, whose messages have no headers; for gateways and other
 * microservices as well. It finds nothing over HTTP and in GraphQL, where a token would stand in logs and in caches.
 */
export function fromPayload(field: string): TokenSource {
  return (context) => {
    return MESSAGES.has(context.getType()) ? (callParameter(context, field) as FoundToken) : undefined;
  };
}
