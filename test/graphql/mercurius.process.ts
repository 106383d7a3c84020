import 'reflect-metadata';
import { Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SessionAuthModule, type SessionAuthOptions } from 'nestjs-session-auth';
import { contextOption, type ContextKind } from './graphql-context-kinds.js';
import { NamesResolver } from './names.resolver.js';
import { OpeningsResolver } from './openings.resolver.js';
import { WipingResolver } from './wiping.resolver.js';

const [baseUrl, options, ...contexts] = process.argv.slice(2) as [string, string, ...ContextKind[]];
const own = JSON.parse(options) as Partial<SessionAuthOptions>;

@Module({})
class MercuriusModule {
  static with(context: ContextKind): DynamicModule {
    const graphql = GraphQLModule.forRoot<MercuriusDriverConfig>({
      driver: MercuriusDriver,
      ...(context !== 'default' && { context: contextOption(context) }),
      autoSchemaFile: true,
      allowBatchedQueries: true,
      fieldResolverEnhancers: ['guards'],
      subscription: { fullWsTransport: true },
    });
    const sessions = SessionAuthModule.forRoot({ baseUrl, apiKey: 'application-key', ...own });
    const providers = [OpeningsResolver, WipingResolver, ...(own.asyncContext ? [NamesResolver] : [])];
    return { module: MercuriusModule, imports: [sessions, graphql], providers };
  }
}

const urls: string[] = [];
for (const context of contexts.length > 0 ? contexts : ['default' as const]) {
  const app = await NestFactory.create(MercuriusModule.with(context), new FastifyAdapter(), { logger: false });
  await app.listen(0, '127.0.0.1');
  urls.push(await app.getUrl());
}
process.send?.(urls);
