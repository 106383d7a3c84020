import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { WebSocket, WebSocketServer } from 'ws';
import { SessionAuthModule } from '../module/session-auth.module.js';
import { SessionSockets } from './session-sockets.js';
import { sessionSockets } from './sockets.plugin.js';

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key', plugins: [sessionSockets] };

@Module({})
class Root {}

/** Returns the code of the answer to a handshake that presents no session. */
async function answerOf(context: INestApplicationContext): Promise<unknown> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  context.get(SessionSockets).protect(server);
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [, response] = (await once(client, 'unexpected-response')) as [unknown, IncomingMessage];
  server.close();
  return JSON.parse(Buffer.concat(await response.toArray()).toString()) as unknown;
}

describe('an application with the plugin', () => {
  it('checks the handshakes of sockets', async () => {
    const context = await NestFactory.createApplicationContext(
      { module: Root, imports: [SessionAuthModule.forRoot(OPTIONS)] },
      { logger: false, abortOnError: false },
    );
    expect(await answerOf(context)).toMatchObject({ code: 'SESSION_REQUIRED' });
    await context.close();
  });
});

describe('a module that lists SessionSockets among its providers', () => {
  it('stops the start', async () => {
    const root = {
      module: Root,
      imports: [SessionAuthModule.forRoot({ ...OPTIONS, plugins: [] })],
      providers: [SessionSockets],
    };
    await expect(
      NestFactory.createApplicationContext(root, { logger: false, abortOnError: false }),
    ).rejects.toThrow("Nest can't resolve dependencies of the SessionSockets (?");
  });
});
