import type { ExecutionContext } from '@nestjs/common';
import { headerCount, type HttpRequest } from '../http/http-request.js';
import { callParameter } from '../transports.js';

/** What a source found: a token, several, or nothing. Several are as bad as a wrong one. */
export type FoundToken = string | readonly string[] | undefined;

/** Where the guard looks for a token: one of the built-in sources, or your own function of the execution context. */
export interface TokenSource {
  /**
   * Finds the token of a call. `request` has its `headers`, under their lower-case names, whatever the kind of context: of a socket those of its
   * handshake, of a message those of the message or its gRPC metadata. A source that throws has found nothing that could be trusted: 401.
   */
  (context: ExecutionContext, request: HttpRequest): FoundToken;
  /** The request header that it reads, for `Vary`. */
  readonly header?: string;
}

/**
 * The token is the whole value of a request header; of gRPC metadata or a message's header of that name; in the handshake of a socket, a field
 * of that name, or `token` (in `auth` of socket.io, in `connectionParams` of graphql-ws).
 */
export function fromHeader(name: string): TokenSource {
  const header = name.toLowerCase();
  return source(name, (request) => readHeader(request, header) ?? (request.handshakeToken as FoundToken));
}

const BEARER = /^bearer(?: +|$)/i;

/**
 * The token follows `Bearer` in the `Authorization` header (RFC 6750, section 2.1). Another scheme counts as no token.
 * Beyond HTTP it is looked for as {@link fromHeader} does; a handshake's `token` stands alone.
 */
export function fromBearer(): TokenSource {
  return source('Authorization', (request) => {
    const value = readHeader(request, 'authorization');
    if (value === undefined) return request.handshakeToken as FoundToken;
    if (typeof value !== 'string') return value;
    return BEARER.test(value) ? value.replace(BEARER, '') : undefined;
  });
}

/** The token is the value of a cookie, as it stands in the `Cookie` header. */
export function fromCookie(name: string): TokenSource {
  const prefix = `${name}=`;
  return source('Cookie', ({ headers: { cookie } }) => {
    if (cookie === undefined) return undefined;
    const values = cookie
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(prefix));
    return values.length > 1 ? values : values[0]?.slice(prefix.length);
  });
}

function source(header: string, find: (request: HttpRequest) => FoundToken): TokenSource {
  return Object.assign((_context: ExecutionContext, request: HttpRequest) => find(request), { header });
}

/** Of a repeated one of these Node keeps the first value, without a trace in `headers`. */
const KEPT_ONCE = new Set(['authorization', 'proxy-authorization', 'from', 'referer', 'user-agent', 'host']);

function readHeader(request: HttpRequest, header: string): FoundToken {
  const value = request.headers[header];
  if (typeof value !== 'string' || !KEPT_ONCE.has(header)) return value;
  return headerCount(request, header) > 1 ? [value, value] : value;
}

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
