import type { ArgumentsHost } from '@nestjs/common';
import type { GuardedRequest } from '../guard/guarded-request.js';
import { bodyOf, type HttpDenial } from '../contract/denials.js';
import { denialOf, exceptionOf } from '../guard/denial.js';
import { ENTITIES, attachedTo, Execution, type FieldInfo } from './execution.js';
import { CALLER, candidatesOf, hasSeveralRequests, type OperationContext } from './operation-context.js';
import {
  handshakeRequest,
  presentedRequest,
  requestLike,
  endsWithReply,
  nodeRequestOf,
  receivedHeaders,
} from '../kinds/handshake-request.js';
import { watchReply, type CallRequest, type Transport } from '../guard/transport.js';
import type { SocketClient } from '../kinds/socket-client.js';
import { closeWithSession } from './watched-socket.js';

/** From its start: another request may take over a shared context during the check. */
const executions = new WeakMap<object, Execution>();

/** The users that requests of HTTP had before any of their fields was admitted. */
const earlierUsers = new WeakMap<object, GuardedRequest>();

/**
 * Resolvers of queries, fields and subscriptions. The HTTP request carries the check, so that all operations
 * of a batch share it. A socket outlives a verdict, so each execution over a socket has its own check. A
 * field keeps the user that it was admitted with.
 */
export const GRAPHQL: Transport = {
  open(context) {
    const { operation, execution } = partsIn(context);
    const request = httpRequestOf(operation);
    if (request && !earlierUsers.has(request)) earlierUsers.set(request, attachedTo(request));
    const executionRequest = open(execution, () => request ?? socketRequestOf(operation));
    if (!request) return { transport: GRAPHQL, context, request: executionRequest };
    return { transport: GRAPHQL, context, request, reply: replyOf(operation) };
  },

  admitted({ context, request }) {
    const { execution, key, info } = partsIn(context);
    executions.get(execution)?.admit(key, attachedTo(request), info);
  },

  /** A query over a socket has ended when its result is sent: each operation is checked. */
  watch(call, registration) {
    const { operation, info } = partsIn(call.context);
    if (call.reply === undefined && info?.operation?.operation === 'subscription')
      return closeWithSession(call, registration, socketOf(operation));
    watchReply(call, registration);
    return undefined;
  },

  /** As the protocol of a stream of events has them: an error, and the end. */
  lastEvents(denial) {
    const errors = [{ message: denial.message, extensions: extensionsOf(denial) }];
    return `event: next\ndata: ${JSON.stringify({ errors })}\n\nevent: complete\ndata:\n\n`;
  },

  requestOf(context) {
    const { execution, key } = partsIn(context);
    return executions.get(execution)?.of(key);
  },

  /**
   * That of the nearest admitted field above. Above all fields is the request, with the user that a
   * middleware of the application has set.
   */
  inherited(context) {
    const { operation, execution, info } = partsIn(context);
    const above = info && executions.get(execution)?.above(info);
    if (above) return above;
    const request = httpRequestOf(operation);
    return request && (earlierUsers.get(request) ?? request);
  },

  parameters: (context) => partsIn(context).parameters,

  deny: (_call, denial) => Promise.reject(withExtensions(exceptionOf(denial), denial)),

  answer(_host, error) {
    throw withExtensions(error, denialOf(error));
  },
};

function open(execution: object, build: () => CallRequest): CallRequest {
  const existing = executions.get(execution);
  if (existing) return existing.request;
  const opened = new Execution(build());
  executions.set(execution, opened);
  return opened.request;
}

interface ResolverParts {
  readonly parameters: unknown;
  readonly operation: OperationContext;
  /**
   * An object of the execution: its coerced variables, which all of its fields share. A context does not
   * identify it: an application may share it.
   */
  readonly execution: object;
  readonly info: FieldInfo | undefined;
  /** An object that belongs to this call of a resolver. */
  readonly key: object;
}

/**
 * A field has root, arguments, context and info; a resolver of references or types has no arguments, and
 * shares the info object of its field with others: the object to resolve is its own. So is the list of a
 * resolver of many fields at once, which has no info object.
 */
function partsIn(host: ArgumentsHost): ResolverParts {
  const args = host.getArgs<unknown[]>();
  const infoIndex = isInfo(args[3]) ? 3 : 2;
  const info = isInfo(args[infoIndex]) ? args[infoIndex] : undefined;
  const resolved = typeof args[0] === 'object' && args[0] !== null ? args[0] : {};
  return {
    parameters: infoIndex === 3 ? args[1] : undefined,
    operation: args[infoIndex - 1] ?? {},
    execution: info?.variableValues ?? resolved,
    info,
    key: info && infoIndex === 3 && info.fieldName !== ENTITIES ? info : resolved,
  };
}

function isInfo(candidate: unknown): candidate is FieldInfo {
  return typeof (candidate as Partial<FieldInfo> | undefined)?.variableValues === 'object';
}

function httpRequestOf(operation: OperationContext): CallRequest | undefined {
  const { req, reply, [CALLER]: caller } = operation;
  const request = [req, reply?.request, caller?.request].find((candidate) => requestLike(candidate));
  return endsWithReply(request) && !hasSeveralRequests(operation) ? (request as CallRequest) : undefined;
}

/** A context with more than one request presents nothing, because its caller is ambiguous. */
function socketRequestOf(operation: OperationContext): CallRequest {
  if (hasSeveralRequests(operation)) return handshakeRequest(undefined);
  const { req, request, connectionParams, _connectionInit, [CALLER]: caller } = operation;
  const own = caller?.request as OperationContext | undefined;
  if ('_connectionInit' in operation) restoreHeaders(request);
  return presentedRequest(
    candidatesOf(operation),
    connectionParams ?? req?.connectionParams ?? own?.connectionParams ?? _connectionInit,
  );
}

/**
 * Mercurius adds the fields of the client's first message to the headers, and token sources of the application
 * may read them from the context. Deleting each would take as long as the client likes.
 */
function restoreHeaders(request: unknown): void {
  const node = nodeRequestOf(request);
  if (node) Reflect.set(node, 'headers', { ...receivedHeaders(node.rawHeaders) });
}

function socketOf({ extra, req, [CALLER]: caller }: OperationContext): SocketClient | undefined {
  const own = caller?.request as OperationContext | undefined;
  const socket = [own?.extra, extra, req?.extra].find((each) => each?.socket)?.socket;
  return typeof (socket as Partial<SocketClient> | undefined)?.close === 'function'
    ? (socket as SocketClient)
    : undefined;
}

function replyOf({ res, reply, req, [CALLER]: caller }: OperationContext): unknown {
  return [res, reply, req?.res, caller?.reply].find(takesHeaders);
}

function takesHeaders(reply: unknown): boolean {
  if (typeof reply !== 'object' || reply === null) return false;
  const { setHeader, header } = reply as Readonly<Record<string, unknown>>;
  return typeof setHeader === 'function' || typeof header === 'function';
}

const CODES = new Map([
  [400, 'BAD_REQUEST'],
  [401, 'UNAUTHENTICATED'],
  [403, 'FORBIDDEN'],
]);

/** Nest's Apollo driver translates exceptions of HTTP. For other drivers: graphql-js copies `extensions`. */
function withExtensions(error: Error, denial: HttpDenial): Error {
  // Of a rule: the exception may be shared, or have extensions of its own.
  if ('extensions' in error || !Object.isExtensible(error)) return error;
  return Object.assign(error, { extensions: extensionsOf(denial) });
}

function extensionsOf(denial: HttpDenial): object {
  return { code: CODES.get(denial.statusCode) ?? 'INTERNAL_SERVER_ERROR', originalError: bodyOf(denial) };
}
