import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { io, type ManagerOptions, type SocketOptions } from 'socket.io-client';
import { WebSocket } from 'ws';

/** The outcome of an attempt to open a socket. */
export interface Attempt {
  readonly opened: boolean;
  /**
   * Of a denied handshake: the status, and the JSON of the body (ws) or the `data` of the error (socket.io).
   */
  readonly denial?: {
    readonly statusCode: number;
    readonly code: string;
    readonly retryAfterSeconds?: number;
  };
  readonly status?: number | undefined;
  readonly headers?: IncomingHttpHeaders;
  /** Every message that reached the client, before and after the handshake. */
  readonly messages: readonly string[];
  send(event: string, data?: unknown): void;
  /** Status and code that the server closed the socket with. */
  readonly closed: Promise<{ readonly statusCode: number; readonly code: string }>;
  close(): void;
}

/** A way to open a socket. */
export type Attempting = (
  url: string,
  token: string | undefined,
  options?: Partial<ManagerOptions & SocketOptions>,
) => Promise<Attempt>;

const headersOf = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { 'x-auth-token': token };

/** Opens a socket of ws. */
export const attemptWs: Attempting = async (url, token, { extraHeaders } = {}) => {
  const socket = new WebSocket(url.replace('http', 'ws'), {
    headers: { ...headersOf(token), ...extraHeaders },
  });
  const messages: string[] = [];
  socket.on('message', (message: Buffer) => messages.push(message.toString()));
  const closed = new Promise<{ statusCode: number; code: string }>((resolve) =>
    socket.once('close', (status, code) => resolve({ statusCode: status - 4000, code: code.toString() })),
  );
  const send = (event: string, data?: unknown): void => socket.send(JSON.stringify({ event, data }));
  const common = { messages, send, closed, close: () => socket.terminate() };
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve({ ...common, opened: true }));
    socket.on('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      void text(response).then((body) => {
        const isJson = response.headers['content-type']?.startsWith('application/json') === true;
        const denial = isJson && { denial: JSON.parse(body) as NonNullable<Attempt['denial']> };
        resolve({
          ...common,
          ...denial,
          opened: false,
          status: response.statusCode,
          headers: response.headers,
        });
      });
    });
  });
};

/** Opens a socket of socket.io, in the namespace that the URL names. */
export const attemptSocketIo: Attempting = async (url, token, options = {}) => {
  const socket = io(url, {
    forceNew: true,
    reconnection: false,
    transports: ['websocket'],
    ...options,
    extraHeaders: { ...headersOf(token), ...options.extraHeaders },
  });
  const messages: string[] = [];
  // Listens on the connection and not on the socket: packets may arrive before a socket is open.
  socket.io.on('packet', ({ type, data }) => {
    if ((type as number) === 2) messages.push(JSON.stringify(data));
  });
  const closed = new Promise<{ statusCode: number; code: string }>((resolve) => {
    let reason = { statusCode: 0, code: '' };
    socket.on('exception', (data: { statusCode: number; code: string }) => (reason = data));
    socket.once('disconnect', () => resolve(reason));
  });
  const send = (event: string, data?: unknown): void =>
    void socket.emit(event, ...(data === undefined ? [] : [data]));
  const common = { messages, send, closed, close: () => void socket.disconnect() };
  return new Promise((resolve) => {
    socket.once('connect', () => resolve({ ...common, opened: true }));
    // A denied client closes its connection before it says why.
    socket.io.once('close', () => setImmediate(() => resolve({ ...common, opened: false })));
    socket.once('connect_error', (error) => {
      resolve({
        ...common,
        opened: false,
        denial: (error as { data?: unknown }).data as NonNullable<Attempt['denial']>,
      });
    });
  });
};
