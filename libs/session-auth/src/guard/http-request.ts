import type { IncomingHttpHeaders } from 'node:http';

/** What the guard reads of a request, on Express and on Fastify. */
export interface HttpRequest {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders?: readonly string[];
  /** Node's own request under Fastify's. */
  readonly raw?: { readonly rawHeaders?: readonly string[] };
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
