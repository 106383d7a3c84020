import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import type { INestApplication, WebSocketAdapter } from '@nestjs/common';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import { until } from '../support/until.js';

/** The credentials of a client at its connection; only socket.io has `auth`. */
export interface Presented {
  readonly headers?: Record<string, string>;
  readonly auth?: Record<string, unknown>;
}

/** The denial of a handshake, as the client receives it. */
interface Denial {
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** The handshake was denied. */
export class HandshakeDenied extends Error {
  constructor(
    readonly denial: Denial,
    /** Headers of the reply; none with socket.io. */
    readonly headers: IncomingHttpHeaders = {},
  ) {
    super(denial.code);
  }
}

/** One message as a client got it. */
export type Message = readonly [event: string, data: unknown];

/** A client of a gateway. */
export interface Peer {
  send(event: string, data?: unknown): void;
  /** Everything that came. */
  readonly received: readonly Message[];
  /** Sends a message, and returns the next one that arrives. */
  ask(event: string, data?: unknown): Promise<Message>;
  /** Why the server ended the socket; waits until it did. */
  ended(): Promise<{ statusCode: number; code: string }>;
  readonly isOpen: () => boolean;
  close(): Promise<void>;
}

/** A library that gateways work on. */
export type SocketLibrary = readonly [
  name: string,
  adapter: (app: INestApplication) => WebSocketAdapter,
  connect: (url: string, presented: Presented) => Promise<Peer>,
];

export const SOCKET_IO: SocketLibrary = [
  'socket.io',
  (app: INestApplication): WebSocketAdapter => new IoAdapter(app),
  connectToSocketIo,
];

export const WS: SocketLibrary = [
  'ws',
  (app: INestApplication): WebSocketAdapter => new WsAdapter(app),
  connectToWs,
];

export const SOCKET_LIBRARIES = [SOCKET_IO, WS];

async function connectToSocketIo(url: string, { headers = {}, auth = {} }: Presented): Promise<Peer> {
  const socket = io(url, {
    auth,
    extraHeaders: headers,
    forceNew: true,
    reconnection: false,
    transports: ['websocket'],
  });
  const received: Message[] = [];
  socket.onAny((event: string, data: unknown) => received.push([event, data]));
  await new Promise((resolve, reject) => {
    socket.once('connect', () => resolve(undefined));
    socket.once('connect_error', (error) =>
      reject('data' in error ? new HandshakeDenied(error.data as Denial) : error),
    );
  });
  return peer(received, (event, data) => socket.emit(event, ...(data === undefined ? [] : [data])), {
    isOpen: () => socket.connected,
    close: () => Promise.resolve(void socket.disconnect()),
    reason: () =>
      received.find(([event]) => event === 'exception')?.[1] as { statusCode: number; code: string },
  });
}

async function connectToWs(url: string, { headers = {} }: Presented): Promise<Peer> {
  const socket = new WebSocket(url.replace('http', 'ws'), { headers });
  const received: Message[] = [];
  let reason = { statusCode: 0, code: '' };
  socket.on('message', (message: Buffer) => {
    const { event, data } = JSON.parse(message.toString()) as { event: string; data: unknown };
    received.push([event, data]);
  });
  socket.on('close', (status, code) => (reason = { statusCode: status - 4000, code: code.toString() }));
  await new Promise((resolve, reject) => {
    socket.once('open', resolve).once('error', reject);
    socket.once('unexpected-response', (_request, response) => void denialIn(response).then(reject));
  });
  return peer(received, (event, data) => socket.send(JSON.stringify({ event, data })), {
    isOpen: () => socket.readyState !== WebSocket.CLOSED,
    close: async () => {
      if (socket.readyState === WebSocket.CLOSED) return;
      socket.close();
      await once(socket, 'close');
    },
    reason: () => reason,
  });
}

async function denialIn(response: IncomingMessage): Promise<Error> {
  const body = await text(response);
  return new HandshakeDenied(JSON.parse(body) as Denial, response.headers);
}

interface Connection extends Pick<Peer, 'isOpen' | 'close'> {
  reason(): { statusCode: number; code: string };
}

function peer(received: Message[], send: Peer['send'], connection: Connection): Peer {
  return {
    received,
    ...connection,
    send,
    ask: async (event, data) => {
      const before = received.length;
      send(event, data);
      await until(`an answer to ${event}`, () => received.length > before);
      return received[before] ?? ['nothing', undefined];
    },
    ended: async () => {
      await until('the end of the socket', () => !connection.isOpen());
      return connection.reason();
    },
  };
}
