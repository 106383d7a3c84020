import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { upgradeHeadersApp } from './upgrade-headers.app.js';

const [returned, baseUrl] = process.argv.slice(2);

/** An application may return what the client sent as a part of its context. */
const onConnect = (data: { readonly payload?: object }): object => data.payload ?? {};

const graphql = GraphQLModule.forRoot<MercuriusDriverConfig>({
  driver: MercuriusDriver,
  autoSchemaFile: true,
  subscription: { fullWsTransport: true, ...(returned === 'payload' && { onConnect: onConnect as never }) },
});
const app = await NestFactory.create(upgradeHeadersApp(graphql, baseUrl), new FastifyAdapter(), {
  logger: false,
});
await app.listen(0, '127.0.0.1');
process.send?.([await app.getUrl()]);
