import type { Socket } from 'node:net';
import type { GuardDenial } from '../guard/denial.js';
import { payloadOf } from '../kinds/client-denial.js';
import type { NodeResponse, ReplyOfCall } from '../guard/transport.js';
import { watchCall } from './watched-call.js';

/** That of HTTP/2 has a `stream`, whose socket other calls share. */
interface Response extends NodeResponse {
  _header?: string | null;
  readonly headersSent: boolean;
  readonly socket?: Socket | null;
  readonly req?: { readonly socket?: Socket };
  readonly stream?: { readonly destroyed: boolean; close(code: number): void };
  readonly destroyed?: boolean;
  readonly writableFinished: boolean;
  end: (this: Response) => unknown;
  destroy(): unknown;
  getHeader(name: string): unknown;
  setHeader(name: string, value: string): unknown;
  once(event: 'close' | 'finish', listener: () => void): unknown;
}

/** For a reply to end by itself that begins after its session has ended. */
const LATE_REPLY_MS = 100;
/** For a client to read its last event. */
const LAST_EVENT_MS = 1_000;
/** Code of HTTP/2: the stream is cancelled. */
const CANCEL = 8;

/** Called when the first part of a reply is written. */
export function endWithSession(response: NodeResponse, { call, admission, parts }: ReplyOfCall): void {
  const reply = response as Response;
  // It has no socket while another reply of its connection is sent, and is not closed with the connection.
  const awaited = reply.socket ? undefined : reply.req?.socket;
  // Its client has gone before its first part: no `close` would end the watch.
  if ((reply.stream ?? reply).destroyed || awaited?.destroyed) return;
  let isHeld = true;
  const isEvents = isEventStream(reply);
  const watching = watchCall(
    { call, parts },
    (denial) => {
      const lastEvents = (): string => call.transport.lastEvents?.(denial) ?? lastEvent(denial);
      const end = (): void => endReply(reply, isEvents && !isHeld ? lastEvents : undefined);
      if (isHeld) setTimeout(end, LATE_REPLY_MS).unref();
      else end();
    },
    admission,
  );
  if (!watching) return;
  if (isEvents && !reply.stream) closeAfter(reply);
  const over = (): void => {
    awaited?.off('close', over);
    watching.watched.over();
  };
  reply.once('close', over);
  awaited?.once('close', over);
  if (watching.isOpen === true) {
    isHeld = false;
    return;
  }
  // Its session may have ended since the guard admitted it: nothing is sent before the verdict. A reply that
  // is complete by then, as one that a handler sends after it has signed out, is sent by its own end.
  reply.cork?.();
  void Promise.resolve(watching.isOpen).then((isOpen) => {
    if (!isOpen) return;
    isHeld = false;
    reply.uncork?.();
  });
}

/**
 * Ends a reply. A stream of events gets a last one; any other is cut, so that its client does not take it for
 * complete. So is one that was held, because its parts would be sent before a last event. To the application,
 * its client has gone.
 */
function endReply(response: Response, lastEvents: (() => string) | undefined): void {
  if (response.writableEnded) return;
  const { write, end } = response;
  silence(response);
  if (!lastEvents) {
    cut(response);
    return;
  }
  try {
    write.call(response, `\n\n${lastEvents()}`);
    end.call(response);
  } catch {
    // A function that the application has put in place of write() or end() threw.
    cut(response);
  }
  setTimeout(() => {
    if (!response.writableFinished) cut(response);
  }, LAST_EVENT_MS).unref();
}

/**
 * Closes the connection after a reply, by which Nest.js and applications recognise that a client has gone. The
 * head says so: a client that kept the connection would lose its next request. `writeHead()` may have written
 * the head, which is not sent before the first part.
 */
function closeAfter(response: Response): void {
  if (response._header)
    response._header = response._header
      .replace(/^(?:connection|keep-alive): .*\r\n/gim, '')
      .replace('\r\n', '\r\nConnection: close\r\n');
  else if (!response.headersSent) response.setHeader('connection', 'close');
  response.once('finish', () => response.req?.socket?.destroySoon());
}

function cut(response: Response): void {
  if (response.stream) response.stream.close(CANCEL);
  else response.destroy();
}

function lastEvent(denial: GuardDenial): string {
  const { statusCode, code, message } = payloadOf(denial);
  return `event: session-ended\ndata: ${JSON.stringify({ statusCode, code, message })}\n\n`;
}

/** `getHeader` does not know the headers that were passed to `writeHead` alone. */
function isEventStream(response: Response): boolean {
  const type =
    response.getHeader('content-type') ?? /^content-type: *(.*)$/im.exec(response._header ?? '')?.[1];
  return typeof type === 'string' && type.startsWith('text/event-stream');
}

function silence(response: object): void {
  const discard = (...parameters: unknown[]): void => {
    const written = parameters.at(-1);
    if (typeof written === 'function') process.nextTick(written, new Error('The session has ended'));
  };
  Object.assign(response, {
    write: (...parameters: unknown[]) => {
      discard(...parameters);
      return false;
    },
    end: (...parameters: unknown[]) => {
      discard(...parameters);
      return response;
    },
  });
}
