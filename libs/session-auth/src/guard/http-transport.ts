import { exceptionOf } from './denial.js';
import type { Transport } from './transport.js';
import { httpArguments } from './http-request.js';

/**
 * Controllers, on Express and on Fastify: the token is in the headers of the request, the user in
 * `request.user`.
 */
export const HTTP: Transport = {
  open(context) {
    const [request, reply] = httpArguments(context);
    return { transport: HTTP, context, request, reply };
  },

  requestOf: (context) => context.switchToHttp().getRequest(),

  parameters: (context) => context.switchToHttp().getRequest<{ readonly params?: unknown }>().params,

  deny({ reply, request }, denial, challenges) {
    setHeaders(reply, challenges.headersOf(denial, request));
    return Promise.reject(exceptionOf(denial));
  },
};

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

/** Sets headers of a reply, on Express and on Fastify. Does nothing if the reply has been sent. */
export function setHeaders(reply: unknown, headers: Iterable<readonly [name: string, value: string]>): void {
  for (const [name, value] of headers) setHeader(reply as ExpressReply | FastifyReply, name, value);
}

/**
 * Returns whether a guard has set the challenge of its registration, which may be another than the default.
 */
export function isChallenged(reply: unknown): boolean {
  return (reply as ExpressReply | FastifyReply).getHeader('www-authenticate') !== undefined;
}

/**
 * Prevents shared caches from serving a guarded reply to other users: they respect `Authorization`, but not
 * the headers of this library. A handler may still set its own `Cache-Control`. `vary` lists the request
 * headers that the reply depends on. Header names are in lower case, which saves Node.js a conversion for
 * each header of each request.
 */
export function keepFromSharedCaches(reply: unknown, vary: string): void {
  const target = reply as ExpressReply | FastifyReply;
  const current = target.getHeader('vary');
  setHeader(target, 'cache-control', 'no-store');
  if (vary !== '')
    setHeader(target, 'vary', current === undefined ? vary : mergeVary(String(current), vary.split(', ')));
}

function mergeVary(current: string, names: readonly string[]): string {
  const listed = current.split(/\s*,\s*/);
  const keys = new Set(listed.map((name) => name.toLowerCase()));
  return keys.has('*')
    ? current
    : [...listed, ...names.filter((name) => !keys.has(name.toLowerCase()))].join(', ');
}

function setHeader(reply: ExpressReply | FastifyReply, name: string, value: string): void {
  if ('setHeader' in reply) {
    if (!reply.headersSent) reply.setHeader(name, value);
  } else if (!reply.sent) reply.header(name, value);
}
