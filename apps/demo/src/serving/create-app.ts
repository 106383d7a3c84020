import { type DynamicModule, type INestApplication, ValidationPipe } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';

/** Creates an application that is ready to handle requests, but does not listen. */
export async function createApp(
  root: DynamicModule,
  adapter: AbstractHttpAdapter,
  configure: (app: INestApplication) => void = () => undefined,
): Promise<INestApplication> {
  // Errors at startup are thrown; logging them too would bury the one line that helps.
  const app = await NestFactory.create(root, adapter, { logger: ['warn', 'fatal'], abortOnError: false });
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }));
  configure(app);
  await app.init();
  // Fastify becomes ready when it listens, which this application never does.
  if (adapter.getType() === 'fastify') await adapter.getInstance<{ ready(): PromiseLike<unknown> }>().ready();
  app.useLogger(['warn', 'error', 'fatal']);
  return app;
}
