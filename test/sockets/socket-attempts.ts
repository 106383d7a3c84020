import { text } from 'node:stream/consumers';
import { io, type ManagerOptions, type SocketOptions } from 'socket.io-client';
import { WebSocket } from 'ws';

/** The denial of a handshake: the JSON of its body (ws), or the `data` of its error (socket.io). */
export interface Denial {
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** The outcome of an attempt to open a socket. */
export interface Attempt {
  readonly opened: boolean;
  readonly denial?: Denial;
  /** Of a denied handshake of ws. */
  readonly status?: number | undefined;
  /** Every message that reached the client, before and after the handshake. */
  readonly messages: readonly string[];
  readonly send: (event: string, data?: unknown) => void;
  readonly isOpen: () => boolean;
  /** Status and code that the server closed the socket with. */
  readonly closed: Promise<{ readonly statusCode: number; readonly code: string }>;
  readonly close: () => void;
}

/** A way to open a socket. */
export type Attempting = (
  url: string,
  token: string | undefined,
  options?: Partial<ManagerOptions & SocketOptions>,
) => Promise<Attempt>;

/** A client of socket.io gives up after 20 s otherwise, which a crowd may take on a busy machine. */
const PATIENT_MS = 240_000;

const headersOf = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { 'x-auth-token': token };

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
  const isOpen = (): boolean => socket.readyState !== WebSocket.CLOSED;
  const common = { messages, send, isOpen, closed, close: () => socket.terminate() };
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve({ ...common, opened: true }));
    socket.on('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      void text(response).then((body) => {
        const isJson = response.headers['content-type']?.startsWith('application/json') === true;
        const denial = isJson && { denial: JSON.parse(body) as Denial };
        resolve({ ...common, ...denial, opened: false, status: response.statusCode });
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
    timeout: PATIENT_MS,
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
  const isOpen = (): boolean => socket.connected;
  const common = { messages, send, isOpen, closed, close: () => void socket.disconnect() };
  return new Promise((resolve) => {
    socket.once('connect', () => resolve({ ...common, opened: true }));
    // A denied client closes its connection before it says why.
    socket.io.once('close', () => setImmediate(() => resolve({ ...common, opened: false })));
    socket.once('connect_error', (error) => {
      resolve({ ...common, opened: false, denial: (error as { data?: unknown }).data as Denial });
    });
  });
};
