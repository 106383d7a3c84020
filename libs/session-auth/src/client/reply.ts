import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { type Unavailable, unavailable } from '../contract/outcome.js';
import { parseObject } from '../contract/wire.js';

/** A complete reply of the session service. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The complete body; `undefined` if it exceeds the limit or has an encoding that was not requested. */
  readonly body: Buffer | undefined;
}

/**
 * What a call brought: a reply, or the reason why there is none. That has nothing of the request, so that no
 * log of it can contain a key or a token.
 */
export type Answer = Reply | Unavailable;

/** There is no server, or its reply is not valid HTTP. */
export const UNREACHABLE = unavailable('unreachable');

/** The service had closed the reused connection before the first byte of the reply. */
export const STALE_CONNECTION: Unavailable = { ...UNREACHABLE, staleConnection: true };

/** Maximum bytes of the headers of a reply. One with more is not a valid reply (our decision). */
export const MAX_HEADER_BYTES = 16_384;

/**
 * Returns whether a body may be read: its declared length is within the limit, it has no content encoding,
 * and no transfer coding but `chunked`.
 */
export function isReadable(headers: IncomingHttpHeaders, maxBytes: number): boolean {
  const { 'content-encoding': encoding, 'transfer-encoding': coding, 'content-length': length } = headers;
  return (
    (encoding === undefined || encoding === 'identity') &&
    (coding === undefined || [coding].flat().join().trim().toLowerCase() === 'chunked') &&
    (length === undefined || !(Number(length) > maxBytes))
  );
}

const NO_BYTES = Buffer.alloc(0);

/**
 * Collects the chunks of a body in one buffer, which doubles when it is full. Time and memory are linear in
 * the length of the body, however small the chunks are. A body of a single chunk is not copied.
 */
export class BodyBuffer {
  bytes: Buffer = NO_BYTES;
  #buffer: Buffer = NO_BYTES;

  /** Appends a chunk. Returns `false`, and appends nothing, if the body would exceed `maxBytes`. */
  append(chunk: Buffer, maxBytes: number): boolean {
    const before = this.bytes.length;
    const length = before + chunk.length;
    if (length > maxBytes) return false;
    if (before === 0) {
      this.bytes = this.#buffer = chunk;
      return true;
    }
    if (length > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.min(maxBytes, 2 * length));
      this.bytes.copy(this.#buffer);
    }
    chunk.copy(this.#buffer, before);
    this.bytes = this.#buffer.subarray(0, length);
    return true;
  }
}

/** A media type of JSON. A reply without a media type may be JSON too. */
const JSON_MEDIA_TYPE = /^(?:(?:application|text)\/json|[^\s;,/]+\/[^\s;,/]+\+json)[ \t]*(?:;|$)/i;

export function isJson(type: unknown = ''): boolean {
  return type === '' || (typeof type === 'string' && JSON_MEDIA_TYPE.test(type));
}

/**
 * Returns the JSON object in a reply; `undefined` for any other media type, invalid UTF-8, invalid JSON or a
 * value that is not an object.
 */
export function readJsonObject({ headers, body }: Reply): object | undefined {
  if (!isJson(headers['content-type']) || !body || !isUtf8(body)) return undefined;
  const text = body.toString();
  return parseObject(text.startsWith('\uFEFF') ? text.slice(1) : text);
}

/**
 * An element of `Cache-Control` and the comma after it (RFC 9111, section 5.2): empty, or a name with an
 * optional argument, which is a token or a quoted string. Sticky, so that an invalid element ends the
 * matches. Reads each character once.
 */
const ELEMENT =
  /[ \t]*(?:([!#$%&'*+.^`|~\w-]+)(?:=(?:([!#$%&'*+.^`|~\w-]+)|"((?:[^"\\]|\\.)*)"))?[ \t]*)?(?:,|$)/gy;

/**
 * Returns the milliseconds for which `Cache-Control` and `Age` allow a reply to be cached, at least 0;
 * `undefined` if they do not shorten `ttlMs`, or if there is none: the cache is off. A header that can't be
 * parsed forbids caching.
 */
export function readCacheForMs(
  { 'cache-control': control, age }: Readonly<Record<string, unknown>>,
  ttlMs: number | undefined,
): number | undefined {
  if (ttlMs === undefined || (control === undefined && age === undefined)) return undefined;
  const maxAge = Math.min(...linesOf(control).map(maxAgeIn));
  const ages = linesOf(age).flatMap((line) => line.split(','));
  const oldest = Math.max(0, ...ages.map((seconds) => secondsIn(seconds.trim()) ?? Infinity));
  const cacheForMs = Math.max(0, Math.min(ttlMs, maxAge * 1_000) - oldest * 1_000);
  return cacheForMs < ttlMs ? cacheForMs : undefined;
}

/** Returns the lines of a header: an array if the reply has several. What is no text becomes unreadable. */
function linesOf(field: unknown): readonly string[] {
  const lines: readonly unknown[] = field === undefined ? [] : [field].flat();
  return lines.map((line) => (typeof line === 'string' ? line : '?'));
}

/** Returns the shortest lifetime in a line of `Cache-Control`, in seconds; `Infinity` if there is none. */
function maxAgeIn(line: string): number {
  let seconds = Infinity;
  let length = 0;
  for (const [element, name = '', token, quoted] of line.matchAll(ELEMENT)) {
    length += element.length;
    if (/^no-(?:store|cache)$/i.test(name)) seconds = 0;
    if (/^(?:max-age|s-maxage)$/i.test(name)) seconds = Math.min(seconds, secondsIn(token ?? quoted) ?? 0);
  }
  return length === line.length ? seconds : 0;
}

/** Parses delta-seconds (RFC 9111, section 1.2.2) of any size. Returns `undefined` for anything else. */
function secondsIn(text = ''): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/**
 * Returns the seconds of a `Retry-After`, which is a number of seconds or a date (RFC 9110, section 10.2.3);
 * `undefined` if there is none or it can't be parsed.
 */
export function readRetryAfterSeconds(value: unknown, now = Date.now()): number | undefined {
  if (typeof value !== 'string') return undefined;
  const seconds = secondsIn(value.trim()) ?? (Date.parse(value) - now) / 1_000;
  return Number.isNaN(seconds) ? undefined : seconds;
}

/** A code of Node.js or undici. */
const NODE_CODE = /^[A-Z][A-Z0-9_]{1,60}$/;
/** Codes of Node.js for a certificate that is not accepted, and for a failed handshake. */
const TLS_CODE = /^[A-Z0-9_]*(?:CERT|SELF_SIGNED|UNABLE_TO_)[A-Z0-9_]*$|^ERR_SSL_[A-Z0-9_]+$|^EPROTO$/;

export function isTlsCode(code: string): boolean {
  return TLS_CODE.test(code);
}

/** Receives the code of Node.js for a connection that failed, such as `ECONNREFUSED`. Called each time. */
export type ConnectionFailed = (code: string) => void;

/** Reports the code of a connection that failed, if it has one of Node.js. */
export function reportFailure(error: unknown, report: ConnectionFailed | undefined): void {
  const { code } = Object(error) as { readonly code?: unknown };
  if (typeof code === 'string' && NODE_CODE.test(code)) report?.(code);
}
