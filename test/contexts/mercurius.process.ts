import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SessionAuthModule, type SessionAuthOptions } from 'nestjs-session-auth';
import { OpeningsResolver } from './openings.resolver.js';
import { WipingResolver } from './wiping.resolver.js';

const [baseUrl, options] = process.argv.slice(2) as [string, string];

@Module({
  imports: [
    SessionAuthModule.forRoot({ baseUrl, apiKey: 'application-key', ...(JSON.parse(options) as Partial<SessionAuthOptions>) }),
    GraphQLModule.forRoot<MercuriusDriverConfig>({
      driver: MercuriusDriver,
      autoSchemaFile: true,
      allowBatchedQueries: true,
      fieldResolverEnhancers: ['guards'],
      subscription: { fullWsTransport: true },
    }),
  ],
  providers: [OpeningsResolver, WipingResolver],
})
class MercuriusModule {}

const app = await NestFactory.create(MercuriusModule, new FastifyAdapter(), { logger: false });
await app.listen(0, '127.0.0.1');
process.send?.(await app.getUrl());
