import type { Server } from 'node:http';
import { getHeapCodeStatistics } from 'node:v8';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SessionSockets } from 'nestjs-session-auth/sockets';
import { Redis } from 'ioredis';
import { WebSocketServer } from 'ws';
import { serve } from './child-serve.js';
import { SOCKET, STORE_SOCKETS, type ApplicationName } from './settings.js';
import { soakModule } from './soak.module.js';

/** Resources in use by an application. */
export interface Usage {
  /** After a collection, without compiled code: V8 compiles more functions for as long as the load lasts. */
  readonly heapBytes: number;
  readonly rssBytes: number;
  /** To the service and from callers. */
  readonly sockets: number;
  /** The most that were open to the service. */
  readonly mostToService: number;
  /** Sockets of users that are watched, and handshakes that wait. */
  readonly watched: number;
  /** Node's own, such as one of too many listeners. */
  readonly warnings: readonly string[];
}

/** How often the open sockets are counted. */
const SOCKET_SAMPLE_MS = 20;

const warnings: string[] = [];
process.on('warning', ({ name, message }) => warnings.push(`${name}: ${message}`));
let app: INestApplication | undefined;
let redis: Redis | undefined;
let webSockets: WebSocketServer | undefined;
let callers = 0;
let mostToService = 0;

function openSockets(): number {
  const all = process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
  return all - (redis ? STORE_SOCKETS : 0);
}

function countSockets(server: Server): void {
  server.on('connection', (socket) => {
    callers += 1;
    socket.on('close', () => (callers -= 1));
  });
  setInterval(
    () => (mostToService = Math.max(mostToService, openSockets() - callers)),
    SOCKET_SAMPLE_MS,
  ).unref();
}

/** Sockets at `/socket`: each receives its user when it opens. */
function openWebSockets(server: Server, sockets: SessionSockets): WebSocketServer {
  const opened = new WebSocketServer({ server, path: '/socket' });
  sockets.protect(opened, SOCKET);
  opened.on('connection', (client) =>
    client.send(JSON.stringify({ username: sockets.userOf(client)?.username })),
  );
  return opened;
}

const handlers = {
  /**
   * Starts the application; the answer is its URL. An unhandled rejection ends this process, as Node does by
   * default.
   */
  start: async ({
    name,
    baseUrl,
    redisPort,
  }: {
    name: ApplicationName;
    baseUrl: string;
    redisPort?: number;
  }): Promise<string> => {
    redis = redisPort === undefined ? undefined : new Redis(redisPort, '127.0.0.1');
    const adapter = name.startsWith('Express') ? new ExpressAdapter() : new FastifyAdapter();
    app = await NestFactory.create(soakModule(name, baseUrl, redis), adapter, { abortOnError: false });
    const server = app.getHttpServer() as Server;
    server.keepAliveTimeout = 600_000;
    countSockets(server);
    await app.listen(0, '127.0.0.1');
    webSockets = openWebSockets(server, app.get(SessionSockets));
    return app.getUrl();
  },
  usage: (): Usage => {
    globalThis.gc?.();
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    const { watched, waiting } = app?.get(SessionSockets).countSockets() ?? { watched: 0, waiting: 0 };
    const { code_and_metadata_size: code, bytecode_and_metadata_size: bytecode } = getHeapCodeStatistics();
    return {
      heapBytes: heapUsed - code - bytecode,
      rssBytes: rss,
      sockets: openSockets(),
      mostToService,
      watched: watched + waiting,
      warnings,
    };
  },
  stop: async (): Promise<void> => {
    webSockets?.close();
    await app?.close();
    await redis?.quit();
  },
};

export type ApplicationApi = typeof handlers;
serve(handlers);
