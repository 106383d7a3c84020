import { STATUS_CODES } from 'node:http';
import { type GuardDenial, exceptionOf } from '../guard/denial.js';
import type { ReplyOfCall } from '../guard/transport.js';
import { closeAfter, type HeadedResponse, isEventStream, withdrawHead } from './unsent-head.js';

interface Response extends HeadedResponse {
  getHeaders(): Readonly<Record<string, unknown>>;
  removeHeader(name: string): void;
  on(event: 'error', listener: () => void): unknown;
}

/** The functions of a response that no middleware has replaced. */
type Functions = Pick<Response, 'writeHead' | 'write' | 'end'>;

/** Headers that describe the reply of the handler, and not the denial in its place. */
const OF_HANDLER =
  /^(?:content-(?!security-policy)|etag|last-modified|expires?|pragma|accept-ranges|transfer-encoding|trailer|x-accel-)/i;

/**
 * Writes a denial in place of a reply whose head is not sent: as if the handler had thrown it, with the other
 * headers, such as those of CORS.
 */
export function denyInstead(
  reply: HeadedResponse,
  { call, registration }: ReplyOfCall,
  denial: GuardDenial,
): void {
  const response = reply as Response;
  const isEvents = isEventStream(response);
  withdrawHead(response);
  const body = JSON.stringify(exceptionOf(denial).getResponse());
  // Fastify keeps its headers apart until it sends them.
  const kept = { ...(call.reply as Partial<Response>).getHeaders?.(), ...response.getHeaders() };
  for (const [name, value] of Object.entries(kept))
    if (OF_HANDLER.test(name)) response.removeHeader(name);
    else if (value !== undefined) response.setHeader(name, value);
  const own = [
    ['cache-control', 'no-store'],
    ['content-type', 'application/json; charset=utf-8'],
    ['content-length', Buffer.byteLength(body)],
    ...registration.reader.challenge.headersOf(denial),
  ] as const;
  for (const [name, value] of own) response.setHeader(name, value);
  if (isEvents) closeAfter(response);
  // A compressing middleware, whose functions have begun with the head, may still write what it has.
  response.on('error', () => undefined);
  const { writeHead, write, end } = Object.getPrototypeOf(response) as Functions;
  // In HTTP/2, they call each other.
  Object.assign(response, { writeHead, write, end });
  if (response.stream) writeHead.call(response, denial.statusCode);
  else writeHead.call(response, denial.statusCode, STATUS_CODES[denial.statusCode]);
  end.call(response, response.req?.method === 'HEAD' ? undefined : body);
}
