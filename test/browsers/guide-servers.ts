import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplication, Type } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { Test } from '@nestjs/testing';
import { type OnGatewayInit, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  CurrentUser,
  SessionAuthModule,
  type SessionAuthOptions,
  type UserRecord,
} from 'nestjs-session-auth';
import { SessionSockets, sessionSockets } from 'nestjs-session-auth/sockets';
import { TestSessions } from 'nestjs-session-auth/testing';
import { issueCertificate } from '../support/certificates.js';
import { codeOfGuide, importFromGuide } from '../support/guide-code.js';

/** A request that the API has answered, or that opens a socket. */
export interface Arrival {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly origin: string | undefined;
  readonly site: string | undefined;
  readonly hasCookie: boolean;
  /** The status of the reply; 101 for a request to open a socket, also if it is denied. */
  readonly status: number;
}

/** The API and the front end of docs/browsers.md, and a server for the pages of all other hosts. */
export interface GuideServers {
  readonly arrivals: Arrival[];
  /** Where the names of hosts lead. */
  readonly hosts: readonly string[];
  close(): Promise<void>;
}

interface GuideModule {
  readonly sessionAuth: SessionAuthOptions;
  readonly SessionController: Type;
  readonly configure: (app: INestApplication) => INestApplication;
}

export const ANN = { username: 'ann', password: 'ann-demo' };

/** The page has no sockets, but browsers send their handshakes the cookie too. */
@WebSocketGateway({ path: '/feed' })
class FeedGateway implements OnGatewayInit {
  constructor(private readonly sockets: SessionSockets) {}

  afterInit(server: object): void {
    this.sockets.protect(server);
  }

  @SubscribeMessage('me') me(@CurrentUser() user: UserRecord) {
    return { event: 'me', data: user.username };
  }
}

/** Starts the servers on loopback ports, with TLS: only then a browser keeps the cookie of the guide. */
export async function startGuideServers(): Promise<GuideServers> {
  const folder = await mkdtemp(join(tmpdir(), 'session-auth-browsers-'));
  const certificate = issueCertificate(folder, { address: 'DNS:*.example.com' });
  const guide = await importFromGuide<GuideModule>('browsers.md', 'src/app.module.ts');
  const arrivals: Arrival[] = [];
  const api = await startApi(guide.module, certificate, arrivals);
  const pages = await startPages(certificate, await codeOfGuide('browsers.md', 'public/session.js'));
  return {
    arrivals,
    hosts: [
      `MAP api.example.com 127.0.0.1:${portOf(api.getHttpServer() as Server)}`,
      `MAP * 127.0.0.1:${portOf(pages)}`,
    ],
    close: async () => {
      pages.closeAllConnections();
      pages.close();
      await api.close();
      await guide.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startApi(
  { sessionAuth, SessionController, configure }: GuideModule,
  httpsOptions: object,
  arrivals: Arrival[],
): Promise<INestApplication> {
  const sessions = new TestSessions();
  sessions.addUser(ANN);
  const builder = Test.createTestingModule({
    imports: [SessionAuthModule.forRoot({ ...sessionAuth, plugins: [sessionSockets] })],
    controllers: [SessionController],
    providers: [FeedGateway],
  });
  const moduleRef = await sessions.install(builder).compile();
  const app = moduleRef.createNestApplication({ httpsOptions, forceCloseConnections: true, logger: false });
  app.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
    response.once('finish', () => arrivals.push(arrival(request, response.statusCode)));
    next();
  });
  app.useWebSocketAdapter(new WsAdapter(app));
  await configure(app).listen(0, '127.0.0.1');
  (app.getHttpServer() as Server).prependListener('upgrade', (request: IncomingMessage) =>
    arrivals.push(arrival(request, 101)),
  );
  return app;
}

function arrival({ method, url, headers }: IncomingMessage, status: number): Arrival {
  const { origin, 'sec-fetch-site': site, cookie } = headers;
  return { method, path: url, origin, site: site, hasCookie: cookie !== undefined, status };
}

async function startPages(certificate: object, frontEnd: string): Promise<Server> {
  const server = createServer(certificate, ({ url }, response) => {
    const isScript = url === '/session.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? frontEnd : '<!doctype html><title>A page</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
