import type { IncomingHttpHeaders } from 'node:http';
import type { DenialPayload } from '../denial.js';
import type { CallRequest } from '../transport.js';

/** A socket of socket.io, or of ws and what behaves like it, as far as it is used here. */
export interface SocketClient {
  /** Of socket.io: what the client presented when it connected. */
  readonly handshake?: {
    /** Headers of the request that opened the socket, under their lower-case names. */
    readonly headers: object;
    /** What the client gave as `auth`. */
    readonly auth?: unknown;
  };
  /** Of socket.io: whether the socket is open. */
  readonly connected?: boolean;
  /** Of socket.io: closes the socket. */
  disconnect?(): unknown;
  /** Of socket.io: sends an event. Of ws: tells listeners of this process, and is not used. */
  emit(event: string, payload: unknown): unknown;
  /** Of ws: 1 while the socket is open. */
  readonly readyState?: number;
  /** Of ws: sends a message. */
  send?(data: string): unknown;
  /** Of ws: closes the socket with a code and its reason. */
  close?(code: number, reason: string): unknown;
  /** Calls back when the event comes: `disconnect` of socket.io, `close` of ws. */
  once(event: string, listener: () => void): unknown;
}

const handshakes = new WeakMap<SocketClient, CallRequest>();
/** `readyState` of an open socket of ws. */
const OPEN = 1;
const NOTHING_PRESENTED = handshakeRequest(undefined);

/** What the client presented when it connected. That of ws is known once {@link rememberUpgrade} was told of it. */
export function handshakeOf(client: SocketClient): CallRequest {
  const known = handshakes.get(client);
  if (known) return known;
  const { handshake } = client;
  if (!handshake) return NOTHING_PRESENTED;
  const request = handshakeRequest(requestLike(handshake), handshake.auth);
  handshakes.set(client, request);
  return request;
}

/** A socket of ws does not know the request that opened it. */
export function rememberUpgrade(client: SocketClient, upgrade: unknown): void {
  const request = requestLike(upgrade);
  if (request && !client.handshake) handshakes.set(client, handshakeRequest(request));
}

/** Tells a client of a refusal in the way of Nest's gateways. */
export function emitException(client: SocketClient, payload: DenialPayload): void {
  // A socket of ws emits to listeners of its own process.
  if (typeof client.readyState === 'number') client.send?.(JSON.stringify({ event: 'exception', data: payload }));
  else client.emit('exception', payload);
}

/** Ends a socket, and tells its client why: socket.io by an `exception` before it, ws by the code of the close frame (4401, 4403, 4503). */
export function disconnect(client: SocketClient, payload: DenialPayload): void {
  if (!client.handshake) {
    client.close?.(4000 + payload.statusCode, payload.code);
    return;
  }
  // A socket that its namespace has not opened hears nothing; there is nothing to close.
  if (client.connected === false) return;
  emitException(client, payload);
  client.disconnect?.();
}

/** Calls back when the socket is closed, at once if it is so already. */
export function whenClosed(client: SocketClient, closed: () => void): void {
  client.once(client.handshake ? 'disconnect' : 'close', closed);
  if (!(client.connected ?? client.readyState === OPEN)) closed();
}

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
