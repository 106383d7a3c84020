import type { IncomingHttpHeaders } from 'node:http';
import type { ExecutionContext } from '@nestjs/common';

interface HttpRequest {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders?: readonly string[];
  /** The request under Fastify's own. */
  readonly raw?: { readonly rawHeaders?: readonly string[] };
}

/** The request's headers, on Express and on Fastify. */
export function headersOf(context: ExecutionContext): IncomingHttpHeaders {
  return context.switchToHttp().getRequest<HttpRequest>().headers;
}

/** How many times a header was sent; one where that can't be known. */
export function headerCount(context: ExecutionContext, header: string): number {
  const request = context.switchToHttp().getRequest<HttpRequest>();
  const lines = request.rawHeaders ?? request.raw?.rawHeaders;
  if (!lines) return 1;
  let count = 0;
  for (let index = 0; index < lines.length; index += 2) {
    const name = lines[index];
    if (name?.length === header.length && name.toLowerCase() === header) count += 1;
  }
  return count;
}
