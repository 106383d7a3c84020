import type { IncomingHttpHeaders } from 'node:http';
import type { DenialPayload } from '../denial.js';
import { nodeRequestOf, receivedHeaders } from '../http/http-request.js';
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
  /** socket.io: the request that opened its connection; `null` over WebTransport. */
  readonly request?: unknown;
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
  const upgrade = client.request === null ? undefined : (nodeRequestOf(client.request) ?? requestLike(handshake));
  const request = handshakeRequest(upgrade, handshake.auth);
  handshakes.set(client, request);
  return request;
}

/** A connection of graphql-ws. */
export interface SocketConnection {
  /** The socket and its request. */
  readonly extra: {
    /** The request that opened the socket. */
    readonly request: unknown;
  };
  /** Content of the client's first message. */
  readonly connectionParams?: unknown;
}

/** Stores the request that opened a ws socket, because the socket does not expose it. */
export function storeUpgrade(client: SocketClient, upgrade: unknown): void {
  if (typeof upgrade !== 'object' || upgrade === null || client.handshake) return;
  const { extra, connectionParams } = upgrade as Partial<SocketConnection>;
  handshakes.set(client, presentedRequest([upgrade, extra?.request], connectionParams));
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
 * Returns the request of a socket. Only a request of Node.js among the candidates presents headers. Any other object may have been built of what the
 * client sent: its headers are fields. So are those in `headers` of the client's first message, where Mercurius expects them.
 */
export function presentedRequest(candidates: readonly unknown[], clientFields: unknown): CallRequest {
  const upgrade = candidates.map(nodeRequestOf).find((request) => request !== undefined);
  const built = upgrade ? undefined : candidates.find((candidate) => requestLike(candidate));
  return handshakeRequest(upgrade, requestLike(built)?.headers, requestLike(clientFields)?.headers, clientFields);
}

/**
 * Returns the request of a handshake: the headers of the request that opened the socket, as the server received them, and the fields that the client
 * sent later (`auth` of socket.io, `connectionParams` of graphql-ws), the last ones first. A browser can't set headers here, and presents its token in
 * these fields. A header that was added to the request later is a field too: no one knows who chose it.
 */
export function handshakeRequest(
  upgrade: Pick<CallRequest, 'headers' | 'rawHeaders'> | undefined,
  ...clientFields: unknown[]
): CallRequest {
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

/** Objects with too many fields. Each operation of a socket reads the same object, and counting a million fields takes longer than a message. */
const tooLarge = new WeakSet();

/** Returns the fields of an untrusted value; none if there are more than {@link MAX_FIELDS}. */
export function entriesOf(fields: unknown): [name: string, value: unknown][] {
  if (typeof fields !== 'object' || fields === null || tooLarge.has(fields)) return [];
  const entries = Object.entries(fields);
  if (entries.length <= MAX_FIELDS) return entries;
  tooLarge.add(fields);
  return [];
}
