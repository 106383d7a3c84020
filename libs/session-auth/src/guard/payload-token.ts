import type { FoundToken, TokenSource } from './token-source.js';
import { transportOf } from './transports/transports.js';

const MESSAGES: ReadonlySet<string> = new Set(['ws', 'rpc']);

/**
 * The token is a field of a message's payload: the one way over TCP and Redis, whose messages have no headers; for gateways and other
 * microservices as well. It finds nothing over HTTP and in GraphQL, where a token would stand in logs and in caches.
 */
export function fromPayload(field: string): TokenSource {
  return (context) => {
    if (!MESSAGES.has(context.getType())) return undefined;
    const payload = transportOf(context)?.parameters(context);
    if (typeof payload !== 'object' || payload === null || !Object.hasOwn(payload, field)) return undefined;
    return (payload as Readonly<Record<string, FoundToken>>)[field];
  };
}
