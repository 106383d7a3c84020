import type { ArgumentsHost } from '@nestjs/common';
import { admissionOf, type GuardedRequest } from '../guarded-request.js';
import { bodyOf, type HttpDenial } from '../../exceptions/denial-body.js';
import { denialOf, exceptionOf } from '../denial.js';
import { CALLER, hasSeveralRequests, type OperationContext } from './operation-context.js';
import { handshakeRequest, presentedRequest, requestLike } from '../sockets/socket-client.js';
import { type CallRequest, CallRequests, type Transport } from '../transport.js';
import { endsWithReply, nodeRequestOf, receivedHeaders } from '../http/http-request.js';

/** The request of each execution, from its start: another request may take over a shared context during the check. */
const executions = new CallRequests();

/**
 * The request of each admitted field, with its user, by its info object: fields run concurrently, and may be admitted with different users,
 * or without one.
 */
const admittedFields = new WeakMap<object, GuardedRequest>();

/** Returns the request of an admitted field, by its info object; `undefined` if no guard has admitted the field itself. */
export function admittedField(info: object): GuardedRequest | undefined {
  return admittedFields.get(info);
}

/**
 * Resolvers of queries, fields and subscriptions. The HTTP request carries the check, so that all operations of a batch share it. A socket
 * outlives a verdict, so each execution over a socket has its own check. A field keeps the user that it was admitted with.
 */
export const GRAPHQL: Transport = {
  open(context) {
    const { operation, execution } = argumentsOf(context);
    const request = httpRequestOf(operation);
    const executionRequest = executions.open(execution, () => request ?? socketRequestOf(operation));
    if (!request) return { transport: GRAPHQL, context, request: executionRequest };
    return { transport: GRAPHQL, context, request, reply: replyOf(operation) };
  },

  admitted({ context, request }) {
    admittedFields.set(argumentsOf(context).field, admissionOf(request));
  },

  requestOf(context) {
    const { operation, execution, field } = argumentsOf(context);
    return admittedFields.get(field) ?? httpRequestOf(operation) ?? executions.find(execution);
  },

  parameters: (context) => argumentsOf(context).parameters,

  deny: (_call, denial) => Promise.reject(withExtensions(exceptionOf(denial), denial)),

  answer(_host, error) {
    throw withExtensions(error, denialOf(error));
  },
};

/**
 * Returns the parts of a resolver's arguments. A field has root, arguments, context and info; a resolver of references or types has no arguments.
 * The coerced variables identify an execution, and are the same for all of its fields. A context does not: an application may share it.
 */
function argumentsOf(host: ArgumentsHost): { parameters: unknown; operation: OperationContext; execution: object; field: object } {
  const infoIndex = variablesOf(host.getArgByIndex(3)) ? 3 : 2;
  return {
    field: host.getArgByIndex<object | undefined>(infoIndex) ?? {},
    parameters: infoIndex === 3 ? host.getArgByIndex(1) : undefined,
    operation: host.getArgByIndex<OperationContext | undefined>(infoIndex - 1) ?? {},
    execution: variablesOf(host.getArgByIndex(infoIndex)) ?? {},
  };
}

function variablesOf(info: { readonly variableValues?: object } | undefined): object | undefined {
  return info?.variableValues;
}

function httpRequestOf(operation: OperationContext): CallRequest | undefined {
  const { req, reply, [CALLER]: caller } = operation;
  const request = [req, reply?.request, caller?.request].find((candidate) => requestLike(candidate));
  return endsWithReply(request) && !hasSeveralRequests(operation) ? (request as CallRequest) : undefined;
}

/** A context with more than one request presents nothing, because its caller is ambiguous. */
function socketRequestOf(operation: OperationContext): CallRequest {
  if (hasSeveralRequests(operation)) return handshakeRequest(undefined);
  const { req, reply, request, extra, connectionParams, _connectionInit, [CALLER]: caller } = operation;
  const own = caller?.request as OperationContext | undefined;
  if ('_connectionInit' in operation) removeAddedHeaders(request);
  const candidates = [own, own?.extra?.request, extra?.request, req?.extra?.request, req, request, reply?.request];
  return presentedRequest(candidates, connectionParams ?? req?.connectionParams ?? own?.connectionParams ?? _connectionInit);
}

/**
 * Removes the fields of the client's first message that Mercurius has added to the headers of the request. Token sources of the application, and its
 * resolvers, may read the headers from the context.
 */
function removeAddedHeaders(request: unknown): void {
  const node = nodeRequestOf(request);
  if (!node) return;
  const received = receivedHeaders(node.rawHeaders);
  for (const name of Object.keys(node.headers)) if (!(name in received)) Reflect.deleteProperty(node.headers, name);
}

function replyOf({ res, reply, req, [CALLER]: caller }: OperationContext): unknown {
  return [res, reply, req?.res, caller?.reply].find(takesHeaders);
}

function takesHeaders(reply: unknown): boolean {
  if (typeof reply !== 'object' || reply === null) return false;
  const { setHeader, header } = reply as { readonly setHeader?: unknown; readonly header?: unknown };
  return typeof setHeader === 'function' || typeof header === 'function';
}

const CODES = new Map([
  [400, 'BAD_REQUEST'],
  [401, 'UNAUTHENTICATED'],
  [403, 'FORBIDDEN'],
]);

/**
 * Returns the error itself, as an exception of HTTP, which Nest's Apollo driver translates. For other drivers, it also has the same `extensions`,
 * which graphql-js copies from any error.
 */
function withExtensions(error: Error, denial: HttpDenial): Error {
  // Of a rule: the exception may be shared, or have extensions of its own.
  if ('extensions' in error || !Object.isExtensible(error)) return error;
  const code = CODES.get(denial.statusCode) ?? 'INTERNAL_SERVER_ERROR';
  return Object.assign(error, { extensions: { code, originalError: bodyOf(denial) } });
}
