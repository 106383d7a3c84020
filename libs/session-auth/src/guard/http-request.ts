import type { IncomingHttpHeaders } from 'node:http';
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
