import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { ExecutionContext } from '@nestjs/common';

/** What the guard reads of a request, on Express and on Fastify. */
export interface HttpRequest {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders?: readonly string[];
  /** Node's own request under Fastify's. */
  readonly raw?: { readonly rawHeaders?: readonly string[] };
  /** What a socket's client calls its token in the handshake, whatever the header that the token has over HTTP. */
  readonly handshakeToken?: unknown;
}

/**
 * Request and reply of an HTTP call. They are the arguments of Nest's own context, whose `switchToHttp()` costs more than a look-up of the
 * session; a context that a test has made up may have no more than `switchToHttp()`.
 */
export function httpArguments(context: ExecutionContext): readonly [request: HttpRequest, reply: unknown] {
  const args: unknown = (context as Partial<ExecutionContext>).getArgs?.();
  if (Array.isArray(args) && args.length > 1) return args as unknown as [HttpRequest, unknown];
  const http = context.switchToHttp();
  return [http.getRequest(), http.getResponse()];
}

/** How many times a header was sent; one where that can't be known. */
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

/** A request of Node, as far as it is told apart from others here. */
export interface NodeRequest extends Readable {
  /** It was handed over to a socket. Node sets it, and only where the server takes sockets: a header alone does not. */
  readonly upgrade?: boolean;
}

/**
 * Node's own request under something that was taken for a request: itself, or what Fastify's has as `raw`. No client can send one: an object
 * that was made of a message never is a stream.
 */
export function nodeRequestOf(candidate: unknown): NodeRequest | undefined {
  if (candidate instanceof Readable) return candidate;
  const raw = (candidate as { readonly raw?: unknown } | null | undefined)?.raw;
  return raw instanceof Readable ? raw : undefined;
}

/**
 * Whether it is a request that ends with its reply. One that opened a socket lives for as long as the socket, and one that an application
 * has made up for as long as it likes.
 */
export function endsWithReply(candidate: unknown): boolean {
  const request = nodeRequestOf(candidate);
  return request !== undefined && request.upgrade !== true;
}
