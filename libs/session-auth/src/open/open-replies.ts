import type { Socket } from 'node:net';
import type { GuardDenial } from '../guard/denial.js';
import { discardHeld, hold, release } from '../guard/held-reply.js';
import { payloadOf } from '../kinds/client-denial.js';
import type { NodeResponse, ReplyOfCall } from '../guard/transport.js';
import { denyInstead } from './late-denial.js';
import { closeAfter, type HeadedResponse, isEventStream, isHeadSent } from './unsent-head.js';
import { watchCall } from './watched-call.js';

interface Response extends HeadedResponse {
  readonly socket?: Socket | null;
  readonly destroyed?: boolean;
  readonly writableFinished: boolean;
}

/** For a reply to end by itself that begins after its session has ended. */
const LATE_REPLY_MS = 100;
/** For a client to read its last event. */
const LAST_EVENT_MS = 1_000;
/** Code of HTTP/2: the stream is cancelled. */
const CANCEL = 8;

/** Called when the first part of a reply is written. */
export function endWithSession(response: NodeResponse, opened: ReplyOfCall): void {
  const reply = response as Response;
  // It has no socket while another reply of its connection is sent, and is not closed with the connection.
  const awaited = reply.socket ? undefined : reply.req?.socket;
  // Its client has gone before its first part: no `close` would end the watch.
  if ((reply.stream ?? reply).destroyed || awaited?.destroyed) return;
  let mayBegin = false;
  const watching = watchCall(
    opened,
    (denial) => {
      const end = (): void => endReply(reply, opened, denial);
      // A handler that has signed out may send a short reply.
      if (mayBegin) end();
      else setTimeout(end, LATE_REPLY_MS).unref();
    },
    opened.admission,
  );
  if (!watching) return;
  const over = (): void => {
    awaited?.off('close', over);
    watching.watched.over();
  };
  reply.once('close', over);
  awaited?.once('close', over);
  const begin = (): void => {
    mayBegin = true;
    if (isEventStream(reply)) closeAfter(reply);
  };
  if (watching.isOpen === true) {
    begin();
    return;
  }
  // Its session may have ended since the guard admitted it: nothing is sent before the verdict.
  hold(reply);
  void Promise.resolve(watching.isOpen).then((isOpen) => {
    if (!isOpen) return;
    begin();
    release(reply);
  });
}

/**
 * Ends a reply. As long as its head is not sent, its client gets the denial instead: proxies take a connection
 * that is cut before the head for a failure of the instance. A stream of events gets a last one; any other is
 * cut, so that its client does not take it for complete. To the application, its client has gone.
 */
function endReply(response: Response, opened: ReplyOfCall, denial: GuardDenial): void {
  if (response.writableEnded) return;
  const unsent = discardHeld(response);
  try {
    if (!isHeadSent(response)) denyInstead(response, opened, denial);
    else if (isEventStream(response)) endEvents(response, opened, denial);
    else cut(response);
  } catch {
    // A function that the application has put in place of one of the response threw.
    cut(response);
  }
  Object.assign(response, {
    write: (...parameters: unknown[]) => !discard(parameters),
    end: (...parameters: unknown[]) => {
      discard(parameters);
      return response;
    },
  });
  unsent.forEach(discard);
}

function endEvents(response: Response, { call }: ReplyOfCall, denial: GuardDenial): void {
  setTimeout(() => {
    if (!response.writableFinished) cut(response);
  }, LAST_EVENT_MS).unref();
  response.write(`\n\n${call.transport.lastEvents?.(denial) ?? lastEvent(denial)}`);
  response.end();
}

function cut(response: Response): void {
  if (response.stream) response.stream.close(CANCEL);
  else response.destroy();
}

function lastEvent(denial: GuardDenial): string {
  const { statusCode, code, message } = payloadOf(denial);
  return `event: session-ended\ndata: ${JSON.stringify({ statusCode, code, message })}\n\n`;
}

/** Discards the parameters of `write()` or `end()`. Returns `true`. */
function discard(parameters: readonly unknown[]): true {
  const written = parameters.at(-1);
  if (typeof written === 'function') process.nextTick(written, new Error('The session has ended'));
  return true;
}
