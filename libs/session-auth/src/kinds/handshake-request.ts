import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { type HttpRequest, KEPT_ONCE } from '../guard/http-request.js';

/**
 * Returns the headers of a request as the server received them. Code that knows a socket's request may have
 * changed its `headers`: Mercurius adds what the client sends later.
 */
export function receivedHeaders(rawHeaders: readonly string[]): IncomingHttpHeaders {
  const headers = Object.create(null) as Record<string, string>;
  for (let index = 1; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index - 1]?.toLowerCase() ?? '';
    const [before, value = ''] = [headers[name], rawHeaders[index]];
    if (before === undefined) headers[name] = value;
    else if (!KEPT_ONCE.has(name)) headers[name] = `${before}${name === 'cookie' ? '; ' : ', '}${value}`;
  }
  return headers;
}

export interface NodeRequest extends Readable {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /**
   * Whether the request opened a socket. Node.js sets it only on servers that accept upgrades: a header alone
   * does not set it.
   */
  readonly upgrade?: boolean;
}

/**
 * Returns the request of Node.js behind a candidate: the candidate itself, or `raw` of Fastify's request. A
 * client can't send one: an object that was parsed from a message is never a stream.
 */
export function nodeRequestOf(candidate: unknown): NodeRequest | undefined {
  if (candidate instanceof Readable) return candidate as NodeRequest;
  const raw = (candidate as { readonly raw?: unknown } | null | undefined)?.raw;
  return raw instanceof Readable ? (raw as NodeRequest) : undefined;
}

/**
 * Returns whether a candidate is a request that ends with its reply. A request that opened a socket lives as
 * long as the socket, and an object that an application has built has an unknown lifetime.
 */
export function endsWithReply(candidate: unknown): boolean {
  const request = nodeRequestOf(candidate);
  return request !== undefined && request.upgrade !== true;
}

/** Maximum number of fields that a client may send. If it sends more, all are ignored. */
export const MAX_FIELDS = 256;

export function requestLike(candidate: unknown): HttpRequest | undefined {
  const headers = (candidate as Partial<HttpRequest> | undefined)?.headers as unknown;
  return typeof headers === 'object' && headers !== null ? (candidate as HttpRequest) : undefined;
}

/**
 * Returns the request of a socket. Only a request of Node.js among the candidates presents headers. Any other
 * object may have been built of what the client sent: its headers are fields. So are those in `headers` of
 * the client's first message, where Mercurius expects them.
 */
export function presentedRequest(candidates: readonly unknown[], clientFields: unknown): HttpRequest {
  const upgrade = candidates.map(nodeRequestOf).find((request) => request !== undefined);
  const built = upgrade ? undefined : candidates.find((candidate) => requestLike(candidate));
  return handshakeRequest(
    upgrade,
    requestLike(built)?.headers,
    requestLike(clientFields)?.headers,
    clientFields,
  );
}

/**
 * Returns the request of a handshake: the headers of the request that opened the socket, as the server
 * received them, and the fields that the client sent later (`auth` of socket.io, `connectionParams` of
 * graphql-ws), the last ones first. A browser can't set headers here, and presents its token in these fields.
 * A header that was added to the request later is a field too: no one knows who chose it.
 */
export function handshakeRequest(
  upgrade: Pick<HttpRequest, 'headers' | 'rawHeaders'> | undefined,
  ...clientFields: unknown[]
): HttpRequest {
  const headers = upgrade?.rawHeaders
    ? receivedHeaders(upgrade.rawHeaders)
    : (namedValues(entriesOf(upgrade?.headers)) as IncomingHttpHeaders);
  const added = entriesOf(upgrade?.headers).filter(([name]) => !(name in headers));
  const fields = [namedValues(added), ...clientFields.map((sent) => namedValues(entriesOf(sent)))];
  return {
    headers,
    rawHeaders: upgrade && (upgrade.rawHeaders ?? []),
    handshakeFields: Object.assign(namedValues([]), ...fields) as Record<string, unknown>,
  };
}

/**
 * Returns values by lower-case names. Those of a repeated name become a list, which is never a valid token.
 * The object has no prototype, because clients choose the names.
 */
export function namedValues(
  entries: Iterable<readonly [name: string, value: unknown]>,
): Record<string, unknown> {
  const values = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    values[key] = key in values ? [values[key], value] : value;
  }
  return values;
}

/** Each operation of a socket reads the same object, and counting a million fields takes long. */
const tooLarge = new WeakSet();

export function entriesOf(fields: unknown): [name: string, value: unknown][] {
  if (typeof fields !== 'object' || fields === null || tooLarge.has(fields)) return [];
  const entries = Object.entries(fields);
  if (entries.length <= MAX_FIELDS) return entries;
  tooLarge.add(fields);
  return [];
}
