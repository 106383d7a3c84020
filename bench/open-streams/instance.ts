// One instance of an application with replies that stay open, of each kind. Ends sessions on request.
import 'reflect-metadata';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import {
  Controller,
  Get,
  Inject,
  Module,
  Req,
  Res,
  Sse,
  StreamableFile,
  UseGuards,
  type DynamicModule,
  type MessageEvent,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GraphQLModule, GraphQLSchemaHost, Query, Resolver, Subscription } from '@nestjs/graphql';
import type { MercuriusDriverConfig } from '@nestjs/mercurius';
import { GrpcMethod, GrpcStreamMethod, Transport, type MicroserviceOptions } from '@nestjs/microservices';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { WsAdapter } from '@nestjs/platform-ws';
import { WebSocketGateway, type OnGatewayConnection, type OnGatewayInit } from '@nestjs/websockets';
import { parse, subscribe, type ExecutionResult } from 'graphql';
import { Redis } from 'ioredis';
import {
  SessionAuthEvents,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
} from 'nestjs-session-auth';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { SessionSockets, sessionSockets } from 'nestjs-session-auth/sockets';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { concat, interval, map, mergeMap, NEVER, of, type Observable } from 'rxjs';
import type { WebSocket } from 'ws';

/** The plan that the parent process passes. */
interface Plan {
  readonly baseUrl: string;
  readonly redisPort: string;
  readonly platform: 'Express' | 'Fastify';
  readonly driver: 'Apollo' | 'Mercurius';
  readonly socketPort: number;
  readonly grpcPort: number;
  readonly protoPath: string;
  readonly recheckMs: number;
  readonly ttlMs: number;
}

const plan = JSON.parse(process.argv[2] ?? '') as Plan;
const EVERY_MS = 5;

async function* parts(): AsyncGenerator<string> {
  for (let part = 0; ; part += 1) {
    yield `part ${part}\n`;
    await pause(EVERY_MS);
  }
}

type Reply = ServerResponse & { readonly raw?: ServerResponse; hijack?(): void };

function raw(reply: Reply): ServerResponse {
  reply.hijack?.();
  return reply.raw ?? reply;
}

@Controller()
@UseGuards(SessionAuthGuard)
class StreamsController {
  @Sse('sse')
  sse(): Observable<MessageEvent> {
    return interval(EVERY_MS).pipe(map((part) => ({ data: `part ${part}` })));
  }

  @Get('file')
  file(): StreamableFile {
    return new StreamableFile(Readable.from(parts()));
  }

  @Get('generator')
  generator(): AsyncGenerator<string> {
    return parts();
  }

  @Get('web')
  web(): ReadableStream {
    return Readable.toWeb(Readable.from(parts())) as ReadableStream;
  }

  @Get('own')
  own(@Res() reply: Reply): void {
    const response = raw(reply);
    response.writeHead(200, { 'content-type': 'text/plain' });
    const writing = setInterval(() => response.write('part\n'), EVERY_MS);
    response.once('close', () => clearInterval(writing));
  }

  @Sse('idle')
  idle(): Observable<MessageEvent> {
    return concat(of({ data: 'part' }), NEVER);
  }

  @GrpcMethod('Streams', 'Parts')
  grpc(): Observable<{ text: string }> {
    return interval(EVERY_MS).pipe(map((part) => ({ text: `part ${part}` })));
  }

  @GrpcStreamMethod('Streams', 'Chat')
  chat(received: Observable<object>): Observable<{ text: string }> {
    return received.pipe(mergeMap(() => this.grpc()));
  }
}

@Controller()
class OpenController {
  constructor(@Inject(GraphQLSchemaHost) private readonly graphql: GraphQLSchemaHost) {}

  /** Sends a subscription's events, as graphql-sse does: the resolver is guarded. */
  @Get('subscription')
  async subscription(@Req() req: IncomingMessage, @Res() reply: Reply): Promise<void> {
    const res = raw(reply);
    const document = parse('subscription { news }');
    const results = await subscribe({ schema: this.graphql.schema, document, contextValue: { req, res } });
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for await (const result of results as AsyncIterable<ExecutionResult>) {
      if (res.destroyed) break;
      res.write(`event: next\ndata: ${JSON.stringify(result)}\n\n`);
    }
  }

  /** That of the other controller, without a guard. */
  @Sse('unguarded')
  idle(): Observable<MessageEvent> {
    return concat(of({ data: 'part' }), NEVER);
  }
}

@WebSocketGateway(plan.socketPort)
@UseGuards(SessionAuthGuard)
class NewsGateway implements OnGatewayInit, OnGatewayConnection {
  constructor(private readonly sockets: SessionSockets) {}

  afterInit(server: object): void {
    this.sockets.protect(server);
  }

  handleConnection(client: WebSocket): void {
    const writing = setInterval(() => client.send('part'), EVERY_MS);
    client.once('close', () => clearInterval(writing));
  }
}

@Resolver()
@UseGuards(SessionAuthGuard)
class NewsResolver {
  @Query(() => String)
  name(): string {
    return 'news';
  }

  @Subscription(() => String)
  async *news(): AsyncGenerator<{ news: string }> {
    for await (const news of parts()) yield { news };
  }
}

/** Mercurius is loaded for its own kind alone. */
async function graphql(): Promise<DynamicModule> {
  if (plan.driver === 'Apollo')
    return GraphQLModule.forRoot<ApolloDriverConfig>({
      driver: ApolloDriver,
      autoSchemaFile: true,
      subscriptions: { 'graphql-ws': true },
    });
  const { MercuriusDriver } = await import('@nestjs/mercurius');
  return GraphQLModule.forRoot<MercuriusDriverConfig>({
    driver: MercuriusDriver,
    autoSchemaFile: true,
    subscription: { fullWsTransport: true },
  });
}

const store = new RedisSessionStore({ redis: new Redis(Number(plan.redisPort), '127.0.0.1') });

@Module({
  imports: [
    SessionAuthModule.forRoot({
      baseUrl: plan.baseUrl,
      apiKey: 'application-key',
      plugins: [sessionSockets],
      cache: { ttlMs: plan.ttlMs, store },
      whileOpen: { recheckMs: plan.recheckMs },
    }),
    graphql(),
  ],
  controllers: [StreamsController, OpenController],
  providers: [NewsResolver, NewsGateway],
})
class Instance {}

const fastify = (): FastifyAdapter => new FastifyAdapter({ forceCloseConnections: true });
const app = await NestFactory.create<NestFastifyApplication>(
  Instance,
  (plan.platform === 'Express' ? new ExpressAdapter() : fastify()) as FastifyAdapter,
  { logger: ['error'] },
);
app.useWebSocketAdapter(new WsAdapter(app));
app.connectMicroservice<MicroserviceOptions>(
  {
    transport: Transport.GRPC,
    options: { package: 'streams', protoPath: plan.protoPath, url: `127.0.0.1:${plan.grpcPort}` },
  },
  { inheritAppConfig: true },
);
await app.startAllMicroservices();
await app.listen(0, '127.0.0.1');
const events = app.get(SessionAuthEvents);
while (events.serviceStatus.revocationBus.state !== 'connected') await pause(10);

const sessions = app.get(SessionAuthService);
/** Milliseconds of the machine's monotonic clock, which all processes share. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Work for this process: its result is sent back. */
const WORK: Readonly<Record<string, (subject: string) => Promise<unknown>>> = {
  async signOut(token) {
    const at = now();
    await sessions.signOut(token);
    return at;
  },
  async forgetUser(username) {
    const at = now();
    await sessions.forgetUser(username);
    return at;
  },
  async forgetAll() {
    const at = now();
    await sessions.forgetAll();
    return at;
  },
  async usage() {
    for (let round = 0; round < 3; round += 1) {
      globalThis.gc?.();
      await pause(50);
    }
    const { heapUsed, external, rss } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    return { bytes: heapUsed + external, rss, cpuMs: (user + system) / 1_000, at: now() };
  },
};

process.on('message', ({ id, work, subject }: { id: number; work: string; subject: string }) => {
  void WORK[work]?.(subject).then((result) => process.send?.({ id, result }));
});
process.on('disconnect', () => process.exit());
process.send?.({ url: await app.getUrl() });
