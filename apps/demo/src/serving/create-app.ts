import { type DynamicModule, type INestApplication, ValidationPipe } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';

/** Creates an application that is ready to answer, but does not listen. */
export async function createApp(
  root: DynamicModule,
  adapter: AbstractHttpAdapter,
  configure: (app: INestApplication) => void = () => undefined,
): Promise<INestApplication> {
  // No errors until it has started: those are thrown, and telling them twice would bury the one line that helps.
  const app = await NestFactory.create(root, adapter, { logger: ['warn', 'fatal'], abortOnError: false });
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }));
  configure(app);
  await app.init();
  // Fastify gets ready when it listens, which this one never does.
  if (adapter.getType() === 'fastify') await adapter.getInstance<{ ready(): PromiseLike<unknown> }>().ready();
  app.useLogger(['warn', 'error', 'fatal']);
  return app;
}
