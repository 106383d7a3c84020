import 'reflect-metadata';
import type { Server } from 'node:http';
import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  Module,
  Post,
  UseGuards,
  type DynamicModule,
  type INestApplication,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  CurrentUser,
  FreshSession,
  Roles,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
  type Credentials,
  type UserRecord,
} from 'nestjs-session-auth';
import { serve } from './child-serve.js';
import { API_KEY, BREAKER, CACHE, MAX_IN_FLIGHT, TIMEOUT_MS, type ApplicationName } from './settings.js';

@Controller()
class SoakController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Get('me')
  @UseGuards(SessionAuthGuard)
  me(@CurrentUser() { username }: UserRecord): { username?: string | undefined } {
    return { username };
  }

  @Get('managers')
  @UseGuards(SessionAuthGuard)
  @Roles('hiring_manager')
  managers(@CurrentUser() { username }: UserRecord): { username?: string | undefined } {
    return { username };
  }

  @Get('fresh')
  @UseGuards(SessionAuthGuard)
  @FreshSession()
  fresh(@CurrentUser() { username }: UserRecord): { username?: string | undefined } {
    return { username };
  }

  @Post('session')
  @HttpCode(200)
  async signIn(@Body() credentials: Credentials): Promise<{ kind: string; token?: string }> {
    const result = await this.sessions.signIn(credentials);
    return { kind: result.kind, ...(result.kind === 'signed-in' && { token: result.token }) };
  }

  @Delete('session')
  async signOut(@Headers('x-auth-token') token: string): Promise<void> {
    await this.sessions.signOut(token);
  }
}

@Module({})
class SoakModule {}

function rootOf(baseUrl: string): DynamicModule {
  const session = SessionAuthModule.forRoot({
    ...{ baseUrl, apiKey: API_KEY, cache: CACHE, breaker: BREAKER, maxInFlight: MAX_IN_FLIGHT },
    ...{ timeoutMs: TIMEOUT_MS, signInTimeoutMs: TIMEOUT_MS, signOutTimeoutMs: TIMEOUT_MS },
  });
  return { module: SoakModule, imports: [session], controllers: [SoakController] };
}

/** What an application has in use. */
export interface Usage {
  /** After a collection. */
  readonly heapBytes: number;
  readonly rssBytes: number;
  /** To the service and from callers. */
  readonly sockets: number;
  /** The most that were open to the service. */
  readonly mostToService: number;
  /** Node's own, such as one of too many listeners. */
  readonly warnings: readonly string[];
}

/** How often the open sockets are counted. */
const SOCKET_SAMPLE_MS = 20;

const warnings: string[] = [];
process.on('warning', ({ name, message }) => warnings.push(`${name}: ${message}`));
let app: INestApplication | undefined;
let callers = 0;
let mostToService = 0;

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
}

function countSockets(server: Server): void {
  server.on('connection', (socket) => {
    callers += 1;
    socket.on('close', () => (callers -= 1));
  });
  setInterval(() => (mostToService = Math.max(mostToService, openSockets() - callers)), SOCKET_SAMPLE_MS).unref();
}

const handlers = {
  /** Starts the application; the answer is its URL. An unhandled rejection ends this process, as Node does by default. */
  start: async ({ platform, baseUrl }: { platform: ApplicationName; baseUrl: string }): Promise<string> => {
    const adapter = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter();
    app = await NestFactory.create(rootOf(baseUrl), adapter, { abortOnError: false });
    const server = app.getHttpServer() as Server;
    server.keepAliveTimeout = 600_000;
    countSockets(server);
    await app.listen(0, '127.0.0.1');
    return app.getUrl();
  },
  usage: (): Usage => {
    globalThis.gc?.();
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    return { heapBytes: heapUsed, rssBytes: rss, sockets: openSockets(), mostToService, warnings };
  },
  stop: async (): Promise<void> => app?.close(),
};

export type ApplicationApi = typeof handlers;
serve(handlers);
