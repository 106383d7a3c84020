import type { IncomingHttpHeaders } from 'node:http';

export interface HttpRequest {
  /**
   * Over a socket: those of the request that opened it, as the server received them. None if that request is
   * unknown.
   */
  readonly headers: IncomingHttpHeaders;
  /** Absent if the call is not a request of HTTP: the handshake of a socket, or a message. */
  readonly method?: string | undefined;
  /**
   * Absent over a socket if the request that opened it is unknown, as of a socket of ws that `SessionSockets`
   * does not protect.
   */
  readonly rawHeaders?: readonly string[] | undefined;
  /** Fastify: the request of Node.js. */
  readonly raw?: { readonly rawHeaders?: readonly string[] };
  /**
   * Only over a socket: what its client wrote after the request that opened it, by lower-case names (`auth`
   * of socket.io, `connectionParams` of graphql-ws). A page of any origin chooses it. It can present a token,
   * and says nothing about the caller.
   */
  readonly handshakeFields?: Readonly<Record<string, unknown>>;
}

export function headerCount({ rawHeaders, raw }: HttpRequest, header: string): number {
  const lines = rawHeaders ?? raw?.rawHeaders;
  if (!lines) return 1;
  let count = 0;
  for (let index = 0; index < lines.length; index += 2) {
    const name = lines[index];
    if (name?.length === header.length && name.toLowerCase() === header) count += 1;
  }
  return count;
}

/**
 * If one of these headers is repeated, Node.js keeps only the first value, and `headers` does not show it.
 */
export const KEPT_ONCE: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'from',
  'referer',
  'user-agent',
  'host',
]);

/** RFC 9110, section 5.1. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Wider than RFC 6265, section 4.1.1, because browsers accept it: visible ASCII without `=` and `;`. */
const COOKIE_NAME = /^[\x21-\x3a\x3c\x3e-\x7e]+$/;

export function isHeaderName(name: unknown): name is string {
  return typeof name === 'string' && HEADER_NAME.test(name);
}

export function isCookieName(name: unknown): name is string {
  return typeof name === 'string' && COOKIE_NAME.test(name);
}
