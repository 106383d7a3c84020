import type { DenialPayload } from './client-denial.js';
import { nodeRequestOf, handshakeRequest, presentedRequest, requestLike } from './handshake-request.js';
import type { CallRequest } from '../guard/transport.js';

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
const OPEN = 1;
const NOTHING_PRESENTED = handshakeRequest(undefined);

/**
 * Returns the request of a client's handshake. For ws, it presents nothing before {@link storeUpgrade} is
 * called.
 */
export function handshakeOf(client: SocketClient): CallRequest {
  const existing = handshakes.get(client);
  if (existing) return existing;
  const { handshake } = client;
  if (!handshake) return NOTHING_PRESENTED;
  const upgrade =
    client.request === null ? undefined : (nodeRequestOf(client.request) ?? requestLike(handshake));
  const request = handshakeRequest(upgrade, handshake.auth);
  handshakes.set(client, request);
  return request;
}

/** Returns `false` for a socket of ws that presents nothing, whatever its handshake had. */
export function isHandshakeKnown(client: SocketClient): boolean {
  return client.handshake !== undefined || handshakes.has(client);
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

/** A ws socket does not expose the request that opened it. */
export function storeUpgrade(client: SocketClient, upgrade: unknown): void {
  if (typeof upgrade !== 'object' || upgrade === null || client.handshake) return;
  const { extra, connectionParams } = upgrade as Partial<SocketConnection>;
  handshakes.set(client, presentedRequest([upgrade, extra?.request], connectionParams));
}

export function emitException(client: SocketClient, payload: DenialPayload): void {
  // `emit` of ws calls listeners in this process only.
  if (typeof client.readyState === 'number')
    client.send?.(JSON.stringify({ event: 'exception', data: payload }));
  else client.emit('exception', payload);
}

/**
 * Closes a socket with a reason: socket.io sends an `exception` before, ws a code in the close frame (4401,
 * 4403, 4503).
 */
export function disconnect(client: SocketClient, payload: DenialPayload): void {
  if (!client.handshake) {
    client.close?.(4000 + payload.statusCode, payload.code);
    return;
  }
  // Its namespace has not opened the socket: it receives no events, and there is nothing to close.
  if (client.connected === false) return;
  try {
    emitException(client, payload);
  } finally {
    client.disconnect?.();
  }
}

/** Calls `listener` at once if the socket is closed already. */
export function whenClosed(client: SocketClient, listener: () => void): void {
  client.once(client.handshake ? 'disconnect' : 'close', listener);
  if (!(client.connected ?? client.readyState === OPEN)) listener();
}
