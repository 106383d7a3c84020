import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Controller, Get, type LoggerService } from '@nestjs/common';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { fromHeader, fromPayload } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { postGraphql, type GraphqlReply } from '../graphql/graphql-client.js';
import { SOCKET_IO } from '../sockets/peers.js';
import { startApp, type Platform, type RunningApp } from '../support/platforms.js';
import { sampleApp, type SampleApp } from '../support/sample-app.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { freePort } from '../support/server-process.js';

/** An application with handlers of every kind, and its session service. */
export interface EveryKind {
  readonly service: ScriptedService;
  readonly app: RunningApp;
  /** Of the messages over TCP. */
  readonly port: number;
  close(): Promise<void>;
}

/** Calls a handler with a token. Returns its answer, or the body of the denial. */
export type Call = (to: EveryKind, token?: string) => Promise<unknown>;

/** A handler of each kind with a rule. */
export function openingsWith(
  rule: MethodDecorator,
  run: () => string = () => 'in',
): Required<Pick<SampleApp, 'controllers' | 'providers'>> {
  @Controller()
  class OpeningsController {
    @Get('openings') @rule list(): string {
      return run();
    }

    @MessagePattern('openings') @rule message(): string {
      return run();
    }
  }

  @Resolver()
  class OpeningsResolver {
    @Query(() => String) @rule openings(): string {
      return run();
    }
  }

  @WebSocketGateway()
  class OpeningsGateway {
    @SubscribeMessage('openings') @rule message(): { event: string; data: string } {
      return { event: 'openings', data: run() };
    }
  }
  return { controllers: [OpeningsController], providers: [OpeningsResolver, OpeningsGateway] };
}

export async function startEveryKind(
  platform: Platform,
  sample: Omit<SampleApp, 'baseUrl'>,
  logger?: LoggerService,
): Promise<EveryKind> {
  const [service, port] = await Promise.all([startScriptedService(), freePort()]);
  const driver: ApolloDriverConfig = { driver: ApolloDriver, autoSchemaFile: true, graphiql: false };
  const root = sampleApp({
    ...sample,
    baseUrl: service.url,
    imports: [...(sample.imports ?? []), GraphQLModule.forRoot<ApolloDriverConfig>(driver)],
    options: { token: [fromHeader('x-auth-token'), fromPayload('token')], ...sample.options },
  });
  const app = await startApp(platform, root, {
    ...(logger && { logger }),
    configure: (nest) => void nest.useWebSocketAdapter(SOCKET_IO[1](nest)),
  });
  app.app.connectMicroservice({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
  await app.app.startAllMicroservices();
  const close = async (): Promise<void> => {
    await app.close();
    await service.close();
  };
  return { service, app, port, close };
}

export const overHttp =
  (path: string): Call =>
  async ({ app }, token) => {
    const reply = await app.get(path, token);
    return reply.ok ? reply.text() : reply.json();
  };

/** With several fields, the answer is all of them. */
export const overGraphql =
  (fields: string): Call =>
  async ({ app }, token) => {
    const reply = await postGraphql(app.url, { query: `{ ${fields} }` }, token);
    const { data, errors } = (await reply.json()) as GraphqlReply;
    if (errors) return errors[0]?.extensions.originalError;
    const values = Object.values(data ?? {});
    return values.length === 1 ? values[0] : values;
  };

export const overSocket =
  (event: string): Call =>
  async ({ app }, token) => {
    const headers = { ...(token !== undefined && { 'x-auth-token': token }) };
    const peer = await SOCKET_IO[2](app.url, { headers });
    const [, data] = await peer.ask(event);
    await peer.close();
    return data;
  };

/** The denial of a call, by its body over HTTP: that of a message has no `statusCode`. */
export function denialOver(kind: string, body: object): object {
  if (kind !== 'a message handler') return body;
  const members = Object.entries(body).filter(([name]) => name !== 'statusCode');
  return { status: 'error', ...Object.fromEntries(members) };
}

export const overMessages =
  (pattern: string) =>
  async ({ port }: Pick<EveryKind, 'port'>, token: string | undefined): Promise<unknown> => {
    const options = { host: '127.0.0.1', port };
    const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
    try {
      return await firstValueFrom(client.send<unknown>(pattern, { token })).catch((error: unknown) => error);
    } finally {
      client.close();
    }
  };
