import type { Socket } from 'node:net';
import type { NodeResponse } from '../guard/transport.js';

/**
 * Over HTTP/1, Node.js builds the head of a reply as a text, and sends it with the first part. It has no
 * functions to read and change that text. This file is the only one that knows these fields of its responses;
 * where they are missing, as in other runtimes, a head counts as sent.
 */
export interface HeadedResponse extends NodeResponse {
  _header?: string | null;
  readonly _headerSent?: boolean;
  /** That of HTTP/2 has none of its own, because other calls share it. */
  readonly req?: { readonly method?: string; readonly socket?: Socket };
  getHeader(name: string): unknown;
  setHeader(name: string, value: unknown): unknown;
  once(event: 'close' | 'finish', listener: () => void): unknown;
}

export function isHeadSent({ stream, _headerSent }: HeadedResponse): boolean {
  return stream ? stream.headersSent : _headerSent !== false;
}

/** `getHeader` does not know the headers that were passed to `writeHead` alone. */
export function isEventStream(response: HeadedResponse): boolean {
  const type =
    response.getHeader('content-type') ?? /^content-type: *(.*)$/im.exec(response._header ?? '')?.[1];
  return typeof type === 'string' && type.startsWith('text/event-stream');
}

/**
 * Closes the connection after a stream of events, by which Nest.js and applications recognise that a client
 * has gone. The head says so: a client that kept the connection would lose its next request.
 */
export function closeAfter(response: HeadedResponse): void {
  if (response.stream) return;
  if (response._header)
    response._header = response._header
      .replace(/^(?:connection|keep-alive): .*\r\n/gim, '')
      .replace('\r\n', '\r\nConnection: close\r\n');
  else if (!response.headersSent) response.setHeader('connection', 'close');
  response.once('finish', () => response.req?.socket?.destroySoon());
}

/** Takes back the head that was built, so that another one can be written. */
export function withdrawHead(response: HeadedResponse): void {
  if (response.stream) return;
  const hasBody = response.req?.method !== 'HEAD';
  // Building it has changed these, too.
  Object.assign(response, { _header: null, _last: false, _hasBody: hasBody, chunkedEncoding: false });
}
