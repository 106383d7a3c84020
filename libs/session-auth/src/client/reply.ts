import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';

/** A complete reply of the session service. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The complete body; `undefined` if it exceeds the limit or has an encoding that was not requested. */
  readonly body: Buffer | undefined;
}

/**
 * Returns whether a body may be read: its declared length is within the limit, it has no content encoding,
 * and no transfer coding but `chunked`.
 */
export function isReadable(headers: IncomingHttpHeaders, maxBytes: number): boolean {
  const { 'content-encoding': encoding, 'transfer-encoding': coding }: Readonly<Record<string, unknown>> =
    headers;
  if (coding !== undefined && !(typeof coding === 'string' && coding.trim().toLowerCase() === 'chunked'))
    return false;
  return (
    (encoding === undefined || encoding === 'identity') && !(Number(headers['content-length']) > maxBytes)
  );
}

/**
 * Returns the JSON object in a reply; `undefined` for any other media type, invalid UTF-8, invalid JSON or a
 * value that is not an object.
 */
export function readJsonObject({ headers, body }: Reply): object | undefined {
  if (!body || !mayBeJson(headers['content-type']) || !isUtf8(body)) return undefined;
  try {
    const value: unknown = JSON.parse(
      startsWithByteOrderMark(body) ? body.toString('utf8', 3) : body.toString('utf8'),
    );
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const JSON_MEDIA_TYPE = /^(?:application\/json|text\/json|[^\s;,/]+\/[^\s;,/]+\+json)[ \t]*(?:;|$)/i;

/** Returns whether a body may be JSON: by its media type, or because it has none. */
function mayBeJson(contentType: unknown): boolean {
  if (contentType === undefined || contentType === '') return true;
  return typeof contentType === 'string' && JSON_MEDIA_TYPE.test(contentType);
}

function startsWithByteOrderMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
}

/** Reason why a call to the session service has no reply. */
export type NoReplyReason = 'unreachable' | 'timeout' | 'api_key' | 'shutting_down';

/**
 * Outcome of a call without a reply. Has nothing of the request, so that no log of it can contain a key or a
 * token.
 */
export interface NoReply {
  readonly noReply: NoReplyReason;
  /** The connection was reused, and was closed before the first byte of the reply. */
  readonly staleConnection?: true;
}

/** {@link NoReply} as an error, for the interceptors of an application. */
export class NoReplyError extends Error {
  override readonly name = 'NoReplyError';
  /** Outcome of the call. */
  readonly outcome: NoReply;

  constructor(outcome: NoReply) {
    super(`The call to the session service brought no reply: ${outcome.noReply}`);
    this.outcome = outcome;
  }
}

/** The service had closed the reused connection. */
export const STALE_CONNECTION: NoReply = { noReply: 'unreachable', staleConnection: true };

/** There is no server, or its reply is not valid HTTP. */
export const UNREACHABLE: NoReply = { noReply: 'unreachable' };
