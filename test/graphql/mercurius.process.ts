import 'reflect-metadata';
import { Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SessionAuthModule, type SessionAuthOptions } from 'nestjs-session-auth';
import { contextOption, type ContextKind } from './graphql-context-kinds.js';
import { OpeningsResolver, WITH_COOKIE } from './openings.resolver.js';
import { partnersModule, RoomsResolver } from './rooms.resolver.js';
import { WipingResolver } from './wiping.resolver.js';

/** Starts one server for each of the contexts. */
export interface MercuriusOrder {
  readonly id: number;
  readonly baseUrl: string;
  readonly contexts: readonly ContextKind[];
  readonly options: Partial<SessionAuthOptions>;
  readonly partnersUrl?: string;
  readonly hasCookie?: boolean;
}

@Module({})
class MercuriusModule {
  static with(
    context: ContextKind,
    { baseUrl, options, partnersUrl, hasCookie }: MercuriusOrder,
  ): DynamicModule {
    const graphql = GraphQLModule.forRoot<MercuriusDriverConfig>({
      driver: MercuriusDriver,
      ...(context !== 'default' && { context: contextOption(context) }),
      autoSchemaFile: true,
      allowBatchedQueries: true,
      fieldResolverEnhancers: ['guards'],
      subscription: { fullWsTransport: true },
      // Operations are compiled when they are repeated.
      ...(partnersUrl !== undefined && { jit: 1 }),
    });
    const sessions = SessionAuthModule.forRoot({
      ...{ baseUrl, apiKey: 'application-key', ...options },
      ...(hasCookie && WITH_COOKIE),
    });
    const rooms = partnersUrl === undefined ? [] : [RoomsResolver];
    return {
      module: MercuriusModule,
      imports: [sessions, ...rooms.map(() => partnersModule(partnersUrl ?? '')), graphql],
      providers: [OpeningsResolver, WipingResolver, ...rooms],
    };
  }
}

async function start(order: MercuriusOrder): Promise<void> {
  const urls: string[] = [];
  for (const context of order.contexts) {
    const module = MercuriusModule.with(context, order);
    const app = await NestFactory.create(module, new FastifyAdapter(), { logger: false });
    await app.listen(0, '127.0.0.1');
    urls.push(await app.getUrl());
  }
  process.send?.({ id: order.id, urls });
}

process.on('message', (order: MercuriusOrder) => void start(order));
