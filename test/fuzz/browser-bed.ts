import { All, Controller, UseGuards, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { CurrentUser, fromCookie, fromHeader, SessionAuthGuard, type UserRecord } from 'nestjs-session-auth';
import { sessionSockets, SessionSockets, type SocketClient } from 'nestjs-session-auth/sockets';
import { startSessionService } from 'nestjs-session-auth/testing';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { sampleApp } from '../support/sample-app.js';
import { COOKIE, HEADER, TRUSTED, VALID, type BrowserCase } from './browser-case.js';

/** The outcome of a call: its user, or the status of its denial; `closed` without one. */
export type Answer = { readonly user: string | undefined } | { readonly status: number } | 'closed';

/** The used part of a server of socket.io. */
interface SocketIoServer {
  on(
    event: 'connection',
    listener: (
      client: SocketClient & { readonly handshake: { readonly query: { readonly case?: string } } },
    ) => void,
  ): void;
  close(): Promise<void>;
}

@Controller()
class AnyMethodController {
  @All('me')
  @UseGuards(SessionAuthGuard)
  me(@CurrentUser() { username }: UserRecord): { user: string | undefined } {
    return { user: username };
  }
}

/**
 * Applications on Express and on Fastify, and servers of ws and of socket.io, whose handshakes the library
 * checks.
 */
export class BrowserBed {
  readonly #closing: (() => Promise<unknown>)[] = [];
  /** Users of sockets that opened, by the number of their case. */
  readonly #opened = new Map<string, string | undefined>();
  #ports: Record<'Express' | 'Fastify' | 'ws' | 'socket.io', number> = {
    Express: 0,
    Fastify: 0,
    ws: 0,
    'socket.io': 0,
  };
  #cases = 0;

  async start(): Promise<void> {
    const service = await startSessionService();
    for (const token of VALID) service.signInAs({ username: `user of ${token}` }, token);
    this.#closing.push(() => service.close());
    const [express, fastify] = [
      await this.#startApp(service.url, new ExpressAdapter()),
      await this.#startApp(service.url, new FastifyAdapter()),
    ];
    const sockets = express.get(SessionSockets);
    this.#ports = {
      Express: portOf(express),
      Fastify: portOf(fastify),
      ws: await this.#startWs(sockets),
      'socket.io': await this.#startSocketIo(sockets),
    };
  }

  async close(): Promise<void> {
    for (const close of this.#closing.reverse()) await close();
  }

  /** Sends a case, and returns its outcome. A socket that opened is closed. */
  async send(one: BrowserCase): Promise<Answer> {
    this.#cases += 1;
    if (one.kind === 'request') return this.#request(one, this.#cases % 2 === 0 ? 'Express' : 'Fastify');
    const path = `case=${this.#cases}`;
    const answer =
      one.kind === 'ws' ? await this.#openWs(one, `/?${path}`) : await this.#openSocketIo(one, path);
    const hasOpened = this.#opened.has(String(this.#cases));
    const user = this.#opened.get(String(this.#cases));
    this.#opened.clear();
    return hasOpened ? { user } : answer;
  }

  async #startApp(baseUrl: string, adapter: ExpressAdapter | FastifyAdapter): Promise<INestApplication> {
    const token = [fromHeader(HEADER), fromCookie(COOKIE, { trustedOrigins: [TRUSTED] })];
    const options = { plugins: [sessionSockets], token, cache: { ttlMs: 300_000, negativeTtlMs: 5_000 } };
    const app = await NestFactory.create(
      sampleApp({ baseUrl, options, controllers: [AnyMethodController] }),
      adapter,
      { logger: false },
    );
    await app.listen(0, '127.0.0.1');
    this.#closing.push(() => app.close());
    return app;
  }

  async #startWs(sockets: SessionSockets): Promise<number> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    sockets.protect(server);
    server.on('connection', (client, { url }) => {
      this.#opened.set(/case=(\d+)/.exec(url ?? '')?.[1] ?? '', sockets.userOf(client)?.username);
      client.terminate();
    });
    await once(server, 'listening');
    this.#closing.push(async () => {
      server.close();
      await once(server, 'close');
    });
    return (server.address() as AddressInfo).port;
  }

  async #startSocketIo(sockets: SessionSockets): Promise<number> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const io = new IoAdapter(server).createIOServer(0, { transports: ['websocket'] } as Parameters<
      IoAdapter['createIOServer']
    >[1]) as SocketIoServer;
    sockets.protect(io);
    io.on('connection', (client) =>
      this.#opened.set(String(client.handshake.query.case), sockets.userOf(client)?.username),
    );
    this.#closing.push(() => io.close());
    return (server.address() as AddressInfo).port;
  }

  async #request({ method, lines }: BrowserCase, platform: 'Express' | 'Fastify'): Promise<Answer> {
    const reply = await this.#raw(this.#ports[platform], `${method} /me`, [
      ...lines,
      ['Content-Length', '0'],
      ['Connection', 'close'],
    ]);
    const [, status = ''] = reply.split(' ');
    if (status !== '200') return { status: Number(status) };
    return { user: /"user":"([^"]*)"/.exec(reply)?.[1] };
  }

  async #openWs({ lines }: BrowserCase, path: string): Promise<Answer> {
    const handshake = [
      ['Upgrade', 'websocket'],
      ['Connection', 'Upgrade'],
      ['Sec-WebSocket-Version', '13'],
      ['Sec-WebSocket-Key', 'AAAAAAAAAAAAAAAAAAAAAA=='],
    ] as const;
    const reply = await this.#raw(this.#ports.ws, `GET ${path}`, [...lines, ...handshake]);
    return { status: Number(reply.split(' ')[1]) };
  }

  /** Sends the lines as they are, each character one byte. */
  async #raw(port: number, start: string, lines: BrowserCase['lines']): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    const head = [`${start} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''].join(
      '\r\n',
    );
    let reply = '';
    socket.on('data', (chunk) => (reply += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.write(Buffer.from(head, 'latin1'));
    await once(socket, 'close');
    return reply;
  }

  /** Speaks the protocol of Engine.IO and Socket.IO itself, because their client sends no odd packets. */
  async #openSocketIo({ lines, fields }: BrowserCase, path: string): Promise<Answer> {
    const headers = new Map<string, string[]>();
    // The client cannot send a header of this name.
    const sent = lines.filter(([name]) => name !== '__proto__');
    for (const [name, value] of sent)
      headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value]);
    const url = `ws://127.0.0.1:${this.#ports['socket.io']}/socket.io/?EIO=4&transport=websocket&${path}`;
    const socket = new WebSocket(url, {
      headers: Object.fromEntries(
        [...headers].map(([name, all]) => [name, all.length > 1 ? all : all[0]]),
      ) as Record<string, string>,
    });
    const answered = new Promise<Answer>((resolve) => {
      socket.on('message', (message: Buffer) => {
        const packet = message.toString();
        if (packet.startsWith('0')) socket.send(`40${JSON.stringify(fields)}`);
        else if (packet.startsWith('44'))
          resolve({
            status: (JSON.parse(packet.slice(2)) as { data: { statusCode: number } }).data.statusCode,
          });
        else if (packet.startsWith('40')) resolve({ status: 101 });
      });
      socket.on('close', () => resolve('closed'));
      socket.on('error', () => resolve('closed'));
    });
    const answer = await answered;
    socket.terminate();
    return answer;
  }
}

function portOf(app: INestApplication): number {
  return (app.getHttpServer() as { address(): AddressInfo }).address().port;
}
