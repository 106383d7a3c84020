import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';

/** A complete reply of the session service. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The whole body; `undefined` when it is over the limit or in an encoding that nobody asked for. */
  readonly body: Buffer | undefined;
}

/** Whether a body of these headers may be read: its declared length is within the limit, and it is neither encoded nor coded but in chunks. */
export function isReadable(headers: IncomingHttpHeaders, maxBytes: number): boolean {
  const { 'content-encoding': encoding, 'transfer-encoding': coding }: Readonly<Record<string, unknown>> = headers;
  if (coding !== undefined && !(typeof coding === 'string' && coding.trim().toLowerCase() === 'chunked')) return false;
  return (encoding === undefined || encoding === 'identity') && !(Number(headers['content-length']) > maxBytes);
}

/** The JSON object in a reply, or `undefined` for anything else: another media type, invalid UTF-8, invalid JSON, no object. */
export function readJsonObject({ headers, body }: Reply): object | undefined {
  if (!body || !mayBeJson(headers['content-type']) || !isUtf8(body)) return undefined;
  try {
    const value: unknown = JSON.parse(startsWithByteOrderMark(body) ? body.toString('utf8', 3) : body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const JSON_MEDIA_TYPE = /^(?:application\/json|text\/json|[^\s;,/]+\/[^\s;,/]+\+json)[ \t]*(?:;|$)/i;

/** A reply that does not say what it is may be JSON; one that says something else is not. */
function mayBeJson(contentType: unknown): boolean {
  if (contentType === undefined || contentType === '') return true;
  return typeof contentType === 'string' && JSON_MEDIA_TYPE.test(contentType);
}

function startsWithByteOrderMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
}

/** Why a call to the session service brought no reply. */
export type NoReplyReason = 'unreachable' | 'timeout' | 'api_key' | 'shutting_down';

/** A call that brought no reply. Carries a reason and nothing of the request, so that no log of it can hold a key or a token. */
export interface NoReply {
  readonly noReply: NoReplyReason;
  /** The connection had served before, and was closed before a byte of this reply. */
  readonly staleConnection?: true;
}

/** The same for the interceptors of an application, which expect an error. */
export class NoReplyError extends Error {
  override readonly name = 'NoReplyError';
  /** What the call brought instead. */
  readonly outcome: NoReply;

  constructor(outcome: NoReply) {
    super(`The call to the session service brought no reply: ${outcome.noReply}`);
    this.outcome = outcome;
  }
}

/** The service had closed the connection that was used. */
export const STALE_CONNECTION: NoReply = { noReply: 'unreachable', staleConnection: true };

/** Nobody answered, or not as HTTP does. */
export const UNREACHABLE: NoReply = { noReply: 'unreachable' };
