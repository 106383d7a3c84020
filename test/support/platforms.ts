import type { DynamicModule, INestApplication, LoggerService, Type } from '@nestjs/common';
import type { Server } from 'node:http';
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core';
import { IS_LONG_FORM } from './long-form.js';

/** Creates the HTTP adapter of a platform. */
export type Platform = () => AbstractHttpAdapter | Promise<AbstractHttpAdapter>;

type NamedPlatform = readonly [name: 'Express' | 'Fastify', platform: () => AbstractHttpAdapter];

/** Express, for tests that do not depend on the platform. */
export const EXPRESS: Platform = async () => (await loadExpress())[1]();

async function loadExpress(): Promise<NamedPlatform> {
  const { ExpressAdapter } = await import('@nestjs/platform-express');
  return ['Express', () => new ExpressAdapter()];
}

async function loadFastify(): Promise<NamedPlatform> {
  const { FastifyAdapter } = await import('@nestjs/platform-fastify');
  return ['Fastify', () => new FastifyAdapter()];
}

/** Whose subject is HTTP itself. */
const SUITES_ON_BOTH = /\/test\/(?:token|access|context)\//;

/**
 * The HTTP platforms that end-to-end behaviour is tried on: `describe.each(PLATFORMS)('... on %s', (_name, platform) => ...)`. In the short form, suites
 * other than those of the token, of access and of the context run on one of them: about half of the suites on each. A suite loads only its own.
 */
export const PLATFORMS: readonly [NamedPlatform, ...NamedPlatform[]] = isOnBoth()
  ? [await loadExpress(), await loadFastify()]
  : [await (suiteNumber() % 2 === 0 ? loadExpress() : loadFastify())];

function isOnBoth(): boolean {
  return IS_LONG_FORM || SUITES_ON_BOTH.test(suite());
}

/** The file of the suite; empty outside of Jest. */
function suite(): string {
  const { expect } = globalThis as { readonly expect?: { getState(): { readonly testPath?: string } } };
  return expect?.getState().testPath ?? '';
}

function suiteNumber(): number {
  return Buffer.from(suite().replace(/^.*\/test\//, '')).reduce((sum, byte) => sum + byte, 0);
}

const KEEP_ALIVE_MS = 60_000;

/** An application that listens on a free loopback port. */
export interface RunningApp {
  readonly app: INestApplication;
  readonly url: string;
  get(path: string, token?: string, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

/** Configures an application before it listens. */
export interface AppSetup {
  /** Where it logs; quiet when absent. */
  readonly logger?: LoggerService;
  configure?(app: INestApplication): void;
}

/** Starts an application from its root module, quietly. */
export async function startApp(platform: Platform, root: Type | DynamicModule, setup: AppSetup = {}): Promise<RunningApp> {
  const app = await NestFactory.create(root, await platform(), { logger: setup.logger ?? false, abortOnError: false });
  setup.configure?.(app);
  await app.listen(0, '127.0.0.1');
  // After a longer stall, a client would use a connection that the server has closed.
  (app.getHttpServer() as Server).keepAliveTimeout = KEEP_ALIVE_MS;
  const url = await app.getUrl();
  return {
    app,
    url,
    get: (path, token, headers = {}) =>
      fetch(`${url}${path}`, { headers: { ...(token !== undefined && { 'x-auth-token': token }), ...headers } }),
    close: () => app.close(),
  };
}
