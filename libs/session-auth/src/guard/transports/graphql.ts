import type { ArgumentsHost } from '@nestjs/common';
import { exceptionOf, type HttpDenial } from '../http-denial.js';
import { endsWithReply, handshakeRequest, requestLike } from './handshake.js';
import { KeptRequests } from './kept-requests.js';
import type { CallRequest, Transport } from './transport.js';

/** What GraphQL servers put into the context of an operation: Apollo, Mercurius, and graphql-ws under Apollo. */
interface OperationContext {
  readonly req?: OperationContext & { readonly res?: unknown };
  readonly res?: unknown;
  readonly reply?: { readonly request?: unknown };
  /** Of graphql-ws: the request that opened the socket, and what the client sent first. */
  readonly extra?: { readonly request?: unknown };
  readonly connectionParams?: unknown;
  /** Of Mercurius, for the same. */
  readonly request?: unknown;
  readonly _connectionInit?: unknown;
}

const socketRequests = new KeptRequests();

/**
 * Resolvers of queries, fields and subscriptions. The HTTP request keeps the user, so that all operations of a batch share one check. A socket
 * lives longer than a verdict may: there each execution has a check of its own.
 */
export const GRAPHQL: Transport = {
  open(context) {
    const { operation, execution } = argumentsOf(context);
    const request = httpRequestOf(operation);
    if (request)
      return { transport: GRAPHQL, context, request, reply: [operation.res, operation.reply, operation.req?.res].find(takesHeaders) };
    return { transport: GRAPHQL, context, request: socketRequests.open(execution, () => socketRequestOf(operation)) };
  },

  requestOf(context) {
    const { operation, execution } = argumentsOf(context);
    return httpRequestOf(operation) ?? socketRequests.find(execution);
  },

  parameters: (context) => argumentsOf(context).parameters,

  deny: (_call, denial) => Promise.reject(graphqlExceptionOf(denial)),

  answer(_host, denial) {
    throw graphqlExceptionOf(denial);
  },
};

/**
 * A field has root, arguments, context and info; what resolves a reference or a type has no arguments. The coerced variables belong to one
 * execution and to all of its fields, which can't be said of a context: an application may give the same to all.
 */
function argumentsOf(host: ArgumentsHost): { parameters: unknown; operation: OperationContext; execution: object } {
  const infoIndex = variablesOf(host.getArgByIndex(3)) ? 3 : 2;
  return {
    parameters: infoIndex === 3 ? host.getArgByIndex(1) : undefined,
    operation: host.getArgByIndex<OperationContext | undefined>(infoIndex - 1) ?? {},
    execution: variablesOf(host.getArgByIndex(infoIndex)) ?? {},
  };
}

function variablesOf(info: { readonly variableValues?: object } | undefined): object | undefined {
  return info?.variableValues;
}

function httpRequestOf({ req, reply }: OperationContext): CallRequest | undefined {
  const request = requestLike(req) ?? requestLike(reply?.request);
  return request && endsWithReply(request) ? request : undefined;
}

function socketRequestOf(operation: OperationContext): CallRequest {
  const { req, reply, request, extra, connectionParams, _connectionInit } = operation;
  const upgrade = [extra?.request, req?.extra?.request, req, request, reply?.request].find((candidate) => requestLike(candidate));
  return handshakeRequest(requestLike(upgrade), connectionParams ?? req?.connectionParams ?? _connectionInit);
}

function takesHeaders(reply: unknown): boolean {
  return typeof reply === 'object' && reply !== null && ('setHeader' in reply || 'header' in reply);
}

const CODES = new Map([
  [400, 'BAD_REQUEST'],
  [401, 'UNAUTHENTICATED'],
  [403, 'FORBIDDEN'],
]);

/**
 * The exception of HTTP, which Nest's Apollo driver translates. For the drivers that do not, it has the same extensions itself: graphql-js
 * takes them over from any error.
 */
function graphqlExceptionOf(denial: HttpDenial): Error {
  const { retryAfterSeconds } = denial;
  const exception = exceptionOf(denial, { ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
  const extensions = { code: CODES.get(denial.statusCode) ?? 'INTERNAL_SERVER_ERROR', originalError: exception.getResponse() };
  return Object.assign(exception, { extensions });
}
