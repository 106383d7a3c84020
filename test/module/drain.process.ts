import 'reflect-metadata';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Controller,
  Get,
  Module,
  ServiceUnavailableException,
  UseGuards,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core';
import { MessagePattern, Transport } from '@nestjs/microservices';
import { WsAdapter } from '@nestjs/platform-ws';
import { TerminusModule } from '@nestjs/terminus';
import { SubscribeMessage, WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { Redis } from 'ioredis';
import type { WebSocket } from 'ws';
import { fromHeader, fromPayload, SessionAuthGuard, SessionAuthModule } from 'nestjs-session-auth';
import { sessionSockets, SessionSockets } from 'nestjs-session-auth/sockets';
import { observeSessionAuth } from 'nestjs-session-auth/opentelemetry';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import type { DrainSettings } from './draining-app.js';

const { platform, baseUrl, options, drain, drainMs, redisPort, tcpPort } = JSON.parse(
  process.argv[2] ?? '',
) as DrainSettings;
const redis = redisPort === undefined ? undefined : new Redis({ port: redisPort, host: '127.0.0.1' });
const report = (event: string): void => void process.send?.(event);

@Controller()
@UseGuards(SessionAuthGuard)
class MeController {
  @Get('me')
  @MessagePattern('me')
  me(): string {
    return 'in';
  }
}

/** Where a load balancer learns whether to send requests here. */
@Controller()
class ReadyController implements OnModuleDestroy {
  isLeaving = false;

  @Get('ready')
  ready(): string {
    if (this.isLeaving) throw new ServiceUnavailableException();
    return 'ready';
  }

  onModuleDestroy(): void {
    this.isLeaving = true;
  }
}

@WebSocketGateway({ path: '/live' })
@UseGuards(SessionAuthGuard)
class LiveGateway implements OnGatewayConnection {
  constructor(private readonly sockets: SessionSockets) {}

  handleConnection(client: WebSocket, upgrade: IncomingMessage): Promise<unknown> {
    return this.sockets.watch(client, upgrade);
  }

  @SubscribeMessage('me')
  me(): { event: string; data: string } {
    return { event: 'me', data: 'in' };
  }
}

/** Serves on while a load balancer learns that this instance goes. */
class Drain implements OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown {
  onModuleDestroy(): void {
    report('draining');
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (drain === 'hook') await delay(drainMs);
  }

  onApplicationShutdown(): void {
    report('closed');
    redis?.disconnect();
  }
}

const store = redis && { store: new RedisSessionStore({ redis }) };

@Module({
  imports: [
    SessionAuthModule.forRoot({
      baseUrl,
      apiKey: 'application-key',
      token: [fromHeader('x-auth-token'), fromPayload('token')],
      plugins: [sessionSockets],
      ...options,
      ...(options.cache && { cache: { ...options.cache, ...store } }),
    }),
    ...(drain === 'terminus'
      ? [TerminusModule.forRoot({ gracefulShutdownTimeoutMs: drainMs, logger: false })]
      : []),
  ],
  controllers: [MeController, ReadyController],
  providers: [Drain, LiveGateway],
})
class DrainModule {}

observeSessionAuth({ meter: new MeterProvider().getMeter('drain') });
/** Loads one platform alone: a process starts sooner. */
async function adapterOf(name: string): Promise<AbstractHttpAdapter> {
  // By itself Fastify answers 503, for any route, on connections that are open while it closes.
  if (name === 'Fastify')
    return new (await import('@nestjs/platform-fastify')).FastifyAdapter({ return503OnClosing: false });
  return new (await import('@nestjs/platform-express')).ExpressAdapter();
}

const adapter = await adapterOf(platform);
const app = await NestFactory.create(DrainModule, adapter, { logger: false });
const ready = app.get(ReadyController);
app.use((_request: unknown, reply: ServerResponse, next: () => void) => {
  if (ready.isLeaving) reply.setHeader('Connection', 'close');
  next();
});
app.useWebSocketAdapter(new WsAdapter(app));
app.connectMicroservice(
  { transport: Transport.TCP, options: { port: tcpPort, host: '127.0.0.1' } },
  { inheritAppConfig: true },
);
await app.startAllMicroservices();
await app.listen(0, '127.0.0.1');
// If Nest listens for the signal, it ends the process itself. Here nothing does, so that an open handle keeps
// the process alive.
process.once('SIGTERM', (signal) => void (app as { close(signal: string): Promise<void> }).close(signal));
process.channel?.unref();
report(await app.getUrl());
