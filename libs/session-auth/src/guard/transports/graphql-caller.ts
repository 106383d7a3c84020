import { nodeRequestOf, type NodeRequest } from './node-request.js';

/** Who an operation comes from: in the context of each operation, under a name that no context has by itself. */
export const CALLER = Symbol.for('nestjs-session-auth.graphql-caller');

/** What a GraphQL server gives to the function that makes a context: its request or its socket, and its reply. */
export interface Caller {
  readonly request: unknown;
  readonly reply: unknown;
}

/** The caller of a context that more than one request has. */
export const SHARED_CALLER: Caller = { request: undefined, reply: undefined };

/** What GraphQL servers put into the context of an operation: Apollo, Mercurius, and graphql-ws under Apollo. */
export interface OperationContext {
  readonly req?: OperationContext & { readonly res?: unknown };
  readonly res?: unknown;
  readonly reply?: { readonly request?: unknown };
  /** Of graphql-ws: the request that opened the socket, and what the client sent first. */
  readonly extra?: { readonly request?: unknown };
  readonly connectionParams?: unknown;
  /** Of Mercurius, for the same. */
  readonly request?: unknown;
  readonly _connectionInit?: unknown;
  readonly [CALLER]?: Caller;
}

/**
 * Whether a context speaks of more than one request. An application may give one object to all: its request is that of the first caller, or of
 * the last.
 */
export function mixesRequests({ req, reply, extra, request, [CALLER]: caller }: OperationContext): boolean {
  if (caller === SHARED_CALLER) return true;
  const own = caller?.request as OperationContext | undefined;
  let found: NodeRequest | undefined;
  for (const candidate of [own, own?.extra?.request, req, req?.extra?.request, reply?.request, extra?.request, request]) {
    const node = nodeRequestOf(candidate);
    if (found && node && node !== found) return true;
    found ??= node;
  }
  return false;
}
