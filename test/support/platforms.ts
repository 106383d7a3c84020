import type { DynamicModule, INestApplication, LoggerService, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';

/** The HTTP platforms that every end-to-end behaviour is tried on: `describe.each(PLATFORMS)('... on %s', (_name, platform) => ...)`. */
export const PLATFORMS = [
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
] as const;

export type Platform = (typeof PLATFORMS)[number][1];

/** An application that listens on a free loopback port. */
export interface RunningApp {
  readonly app: INestApplication;
  readonly url: string;
  get(path: string, token?: string, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

/** What a test adds to an application before it listens. */
export interface AppSetup {
  /** Where it logs; quiet when absent. */
  readonly logger?: LoggerService;
  configure?(app: INestApplication): void;
}

/** Starts an application from its root module, quietly. */
export async function startApp(platform: Platform, root: Type | DynamicModule, setup: AppSetup = {}): Promise<RunningApp> {
  const app = await NestFactory.create(root, platform(), { logger: setup.logger ?? false, abortOnError: false });
  setup.configure?.(app);
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  return {
    app,
    url,
    get: (path, token, headers = {}) =>
      fetch(`${url}${path}`, { headers: { ...(token !== undefined && { 'x-auth-token': token }), ...headers } }),
    close: () => app.close(),
  };
}
