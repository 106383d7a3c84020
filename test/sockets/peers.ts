import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import type { INestApplication, WebSocketAdapter } from '@nestjs/common';
import { until } from '../support/until.js';
import { attemptSocketIo, attemptWs, type Attempting, type Denial } from './socket-attempts.js';

/** The credentials of a client at its connection; only socket.io has `auth`. */
export interface Presented {
  readonly headers?: Record<string, string>;
  readonly auth?: Record<string, unknown>;
}

export class HandshakeDenied extends Error {
  constructor(readonly denial: Denial) {
    super(denial.code);
  }
}

/** One message as a client got it. */
export type Message = readonly [event: string, data: unknown];

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

type SocketLibrary = readonly [
  name: string,
  adapter: (app: INestApplication) => WebSocketAdapter,
  connect: (url: string, presented: Presented) => Promise<Peer>,
];

export const SOCKET_IO: SocketLibrary = [
  'socket.io',
  (app: INestApplication): WebSocketAdapter => new IoAdapter(app),
  connectBy(attemptSocketIo),
];

export const WS: SocketLibrary = [
  'ws',
  (app: INestApplication): WebSocketAdapter => new WsAdapter(app),
  connectBy(attemptWs),
];

export const SOCKET_LIBRARIES = [SOCKET_IO, WS];

function connectBy(attempting: Attempting): SocketLibrary[2] {
  return async (url, { headers = {}, auth = {} }) => {
    const { opened, denial, messages, send, isOpen, closed, close } = await attempting(url, undefined, {
      extraHeaders: headers,
      auth,
    });
    if (!opened) throw denial ? new HandshakeDenied(denial) : new Error('The handshake failed');
    return {
      get received() {
        return messages.map(messageIn);
      },
      send,
      isOpen,
      ask: async (event, data) => {
        const before = messages.length;
        send(event, data);
        await until(`an answer to ${event}`, () => messages.length > before);
        return messageIn(messages[before] ?? '[]');
      },
      ended: () => closed,
      close: async () => {
        close();
        await closed;
      },
    };
  };
}

/** An event of ws is an object, and one of socket.io a list. */
function messageIn(text: string): Message {
  const message = JSON.parse(text) as { event: string; data: unknown } | Message;
  return 'event' in message ? [message.event, message.data] : [message[0], message[1]];
}
