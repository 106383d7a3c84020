import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, type DynamicModule, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { WebSocket, WebSocketServer } from 'ws';
import { InjectSessionAuth } from '../module/authorities/authority-tokens.js';
import type { SessionAuthOptions } from '../module/options/options.js';
import { SessionAuthModule } from '../module/session-auth.module.js';
import { SessionSockets } from './session-sockets.js';
import { sessionSockets } from './sockets.plugin.js';

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key', plugins: [sessionSockets] };

@Module({})
class Root {}

@Injectable()
class Partners {
  constructor(
    readonly own: SessionSockets,
    @InjectSessionAuth('partners', SessionSockets) readonly sockets: SessionSockets,
  ) {}
}

const partners = (isGlobal: boolean): DynamicModule =>
  SessionAuthModule.forRoot({ ...OPTIONS, name: 'partners', isGlobal });

function start(
  options: Partial<SessionAuthOptions>,
  imports: DynamicModule[] = [],
  ...providers: [] | [typeof Partners]
) {
  const root: DynamicModule = {
    module: Root,
    imports: [SessionAuthModule.forRoot({ ...OPTIONS, ...options }), ...imports],
    providers,
  };
  return NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
}

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
  it.each([true, false])('has the sockets of each authority, with isGlobal: %p', async (isGlobal) => {
    const context = await start({}, [partners(isGlobal)], Partners);
    const { own, sockets } = context.get(Partners);
    expect(own).toBe(context.get(SessionSockets));
    expect([own.authority, sockets.authority]).toEqual(['default', 'partners']);
    await context.close();
  });

  it.each<[string, SessionAuthOptions['authority'], DynamicModule[], string]>([
    ['its own', undefined, [], 'SESSION_REQUIRED'],
    [
      'that of a name, which need not name the plugin',
      () => 'partners',
      [SessionAuthModule.forRoot({ ...OPTIONS, plugins: [], name: 'partners' })],
      'SESSION_REQUIRED',
    ],
    ['that of no authority', () => 'staff', [], 'SESSION_REJECTED'],
  ])(
    'checks the handshakes of sockets by the authority that is selected: %s',
    async (_which, authority, imports, code) => {
      const context = await start(authority ? { authority } : {}, imports);
      expect(await answerOf(context)).toMatchObject({ code });
      await context.close();
    },
  );
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
