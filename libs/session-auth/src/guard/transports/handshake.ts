import type { IncomingHttpHeaders } from 'node:http';
import type { CallRequest } from './transport.js';

/** A client that names more than this has named nothing. */
export const MAX_FIELDS = 256;

/** Whatever has headers as a request has. */
export function requestLike(candidate: unknown): CallRequest | undefined {
  const headers = (candidate as Partial<CallRequest> | undefined)?.headers as unknown;
  return typeof headers === 'object' && headers !== null ? (candidate as CallRequest) : undefined;
}

/**
 * What a socket's client presents: the headers of the request that opened it, and over them the fields that the client chose itself (`auth`
 * of socket.io, `connectionParams` of graphql-ws), by which a browser, that can set no headers here, names its token.
 */
export function handshakeRequest(upgrade: CallRequest | undefined, chosen?: unknown): CallRequest {
  const own = namedValues(entriesOf(chosen));
  const headers = Object.assign(namedValues([]) as IncomingHttpHeaders, upgrade?.headers, own);
  return { headers, rawHeaders: upgrade?.rawHeaders ?? upgrade?.raw?.rawHeaders ?? [], handshakeToken: own.token };
}

/**
 * Values under their names in small letters, as HTTP has them: what comes twice is a list, and no list is a token.
 * It has no prototype, because others choose the names.
 */
export function namedValues(entries: Iterable<readonly [name: string, value: unknown]>): Record<string, unknown> {
  const values = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    values[key] = key in values ? [values[key], value] : value;
  }
  return values;
}

/** The fields of something that came from outside. */
export function entriesOf(fields: unknown): [name: string, value: unknown][] {
  if (typeof fields !== 'object' || fields === null) return [];
  const entries = Object.entries(fields);
  return entries.length > MAX_FIELDS ? [] : entries;
}
