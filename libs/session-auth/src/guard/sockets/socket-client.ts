import type { IncomingHttpHeaders } from 'node:http';
import type { DenialPayload } from '../denial.js';
import type { CallRequest } from '../transport.js';

/** The used part of a socket of socket.io, of ws, or of a library compatible with ws. */
export interface SocketClient {
  /** socket.io: the data that the client presented when it connected. */
  readonly handshake?: {
    /** Headers of the request that opened the socket, under their lower-case names. */
    readonly headers: object;
    /** The `auth` option of the client. */
    readonly auth?: unknown;
  };
  /** socket.io: whether the socket is open. */
  readonly connected?: boolean;
  /** socket.io: closes the socket. */
  disconnect?(): unknown;
  /** socket.io: sends an event. ws: calls listeners in this process, and is not used. */
  emit(event: string, payload: unknown): unknown;
  /** ws: 1 while the socket is open. */
  readonly readyState?: number;
  /** ws: sends a message. */
  send?(data: string): unknown;
  /** ws: closes the socket with a code and a reason. */
  close?(code: number, reason: string): unknown;
  /** Adds a listener for the next event: `disconnect` of socket.io, `close` of ws. */
  once(event: string, listener: () => void): unknown;
}

const handshakes = new WeakMap<SocketClient, CallRequest>();
/** `readyState` of an open ws socket. */
const OPEN = 1;
const NOTHING_PRESENTED = handshakeRequest(undefined);

/** Returns the request of a client's handshake. For ws, it presents nothing before {@link storeUpgrade} is called. */
export function handshakeOf(client: SocketClient): CallRequest {
  const existing = handshakes.get(client);
  if (existing) return existing;
  const { handshake } = client;
  if (!handshake) return NOTHING_PRESENTED;
  const request = handshakeRequest(requestLike(handshake), handshake.auth);
  handshakes.set(client, request);
  return request;
}

/** Stores the request that opened a ws socket, because the socket does not expose it. */
export function storeUpgrade(client: SocketClient, upgrade: unknown): void {
  const request = requestLike(upgrade);
  if (request && !client.handshake) handshakes.set(client, handshakeRequest(request));
}

/** Sends a denial to a client, in the form of Nest's gateways. */
export function emitException(client: SocketClient, payload: DenialPayload): void {
  // `emit` of ws calls listeners in this process only.
  if (typeof client.readyState === 'number') client.send?.(JSON.stringify({ event: 'exception', data: payload }));
  else client.emit('exception', payload);
}

/** Closes a socket with a reason: socket.io sends an `exception` before, ws a code in the close frame (4401, 4403, 4503). */
export function disconnect(client: SocketClient, payload: DenialPayload): void {
  if (!client.handshake) {
    client.close?.(4000 + payload.statusCode, payload.code);
    return;
  }
  // Its namespace has not opened the socket: it receives no events, and there is nothing to close.
  if (client.connected === false) return;
  emitException(client, payload);
  client.disconnect?.();
}

/** Calls `listener` when the socket closes, or at once if it is closed already. */
export function whenClosed(client: SocketClient, listener: () => void): void {
  client.once(client.handshake ? 'disconnect' : 'close', listener);
  if (!(client.connected ?? client.readyState === OPEN)) listener();
}

/** Maximum number of fields that a client may send. If it sends more, all are ignored. */
export const MAX_FIELDS = 256;

/** Returns the candidate if it has headers as a request has. */
export function requestLike(candidate: unknown): CallRequest | undefined {
  const headers = (candidate as Partial<CallRequest> | undefined)?.headers as unknown;
  return typeof headers === 'object' && headers !== null ? (candidate as CallRequest) : undefined;
}

/**
 * Returns the request of a handshake: the headers of the request that opened the socket, overridden by the fields that the client sends (`auth`
 * of socket.io, `connectionParams` of graphql-ws). A browser can't set headers here, and presents its token in these fields.
 */
export function handshakeRequest(upgrade: CallRequest | undefined, clientFields?: unknown): CallRequest {
  const fields = namedValues(entriesOf(clientFields));
  const headers = Object.assign(namedValues([]) as IncomingHttpHeaders, upgrade?.headers, fields);
  return {
    headers,
    upgradeHeaders: upgrade?.headers ?? null,
    rawHeaders: upgrade?.rawHeaders ?? upgrade?.raw?.rawHeaders ?? [],
    handshakeToken: fields.token,
  };
}

/**
 * Returns values by lower-case names, like HTTP headers. The values of a repeated name become a list, and a list is never a valid token.
 * The object has no prototype, because clients choose the names.
 */
export function namedValues(entries: Iterable<readonly [name: string, value: unknown]>): Record<string, unknown> {
  const values = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    values[key] = key in values ? [values[key], value] : value;
  }
  return values;
}

/** Returns the fields of an untrusted value; none if there are more than {@link MAX_FIELDS}. */
export function entriesOf(fields: unknown): [name: string, value: unknown][] {
  if (typeof fields !== 'object' || fields === null) return [];
  const entries = Object.entries(fields);
  return entries.length > MAX_FIELDS ? [] : entries;
}
