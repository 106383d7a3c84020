type HeaderValue = number | string | string[] | undefined;

interface ExpressReply {
  setHeader(name: string, value: string): unknown;
  getHeader(name: string): HeaderValue;
  readonly headersSent: boolean;
}

interface FastifyReply {
  header(name: string, value: string): unknown;
  getHeader(name: string): HeaderValue;
  readonly sent: boolean;
}

/** Sets headers of a reply, on Express and on Fastify. A reply that has been sent is left alone. */
export function setHeaders(reply: unknown, headers: Iterable<readonly [name: string, value: string]>): void {
  for (const [name, value] of headers) setHeader(reply as ExpressReply | FastifyReply, name, value);
}

/** Says that the reply depends on these request headers, beside what has been said before. */
export function addVary(reply: unknown, names: readonly string[]): void {
  const current = (reply as ExpressReply | FastifyReply).getHeader('Vary');
  const listed = current === undefined ? [] : String(current).split(/\s*,\s*/);
  const known = new Set(listed.map((name) => name.toLowerCase()));
  const added = names.filter((name) => !known.has(name.toLowerCase()));
  if (added.length > 0 && !known.has('*')) setHeader(reply as ExpressReply | FastifyReply, 'Vary', [...listed, ...added].join(', '));
}

function setHeader(reply: ExpressReply | FastifyReply, name: string, value: string): void {
  if ('setHeader' in reply) {
    if (!reply.headersSent) reply.setHeader(name, value);
  } else if (!reply.sent) reply.header(name, value);
}
