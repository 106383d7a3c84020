import type { DynamicModule, INestApplication, LoggerService, Type } from '@nestjs/common';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core';
import { inLongForm } from './long-form.js';

/** Creates the HTTP adapter of a platform. */
export type Platform = () => AbstractHttpAdapter | Promise<AbstractHttpAdapter>;

/** Express, for tests that do not depend on the platform. */
export const EXPRESS: Platform = async () => new (await import('@nestjs/platform-express')).ExpressAdapter();

const FASTIFY: Platform = async () => new (await import('@nestjs/platform-fastify')).FastifyAdapter();

/** The adapter without a framework, which NestJS recommends since 12.3: tried where it is installed. */
const NODE_PACKAGE = '@nestjs/platform-node';
const NODE: Platform = async () => {
  const { NodeAdapter } = (await import(NODE_PACKAGE)) as {
    readonly NodeAdapter: new () => AbstractHttpAdapter;
  };
  return new NodeAdapter();
};

type NamedPlatform = readonly [name: 'Express' | 'Fastify' | 'Node', platform: Platform];

/**
 * The HTTP platforms, for suites about HTTP: `describe.each(PLATFORMS)('... on %s', (_name, platform) =>
 * ...)`.
 */
export const PLATFORMS: readonly NamedPlatform[] = [
  ['Express', EXPRESS],
  ['Fastify', FASTIFY],
  ...(isInstalled(NODE_PACKAGE) ? [['Node', NODE] as const] : []),
];

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * All platforms in the long form, and one in the short form, for suites whose outcome does not depend on the
 * platform.
 */
export function platforms(short: NamedPlatform[0]): readonly NamedPlatform[] {
  const others = PLATFORMS.filter(([name]) => name !== short);
  const isLong = inLongForm(`everything on ${others.map(([name]) => name).join(' and ')}`);
  return isLong ? PLATFORMS : PLATFORMS.filter((platform) => !others.includes(platform));
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
export async function startApp(
  platform: Platform,
  root: Type | DynamicModule,
  setup: AppSetup = {},
): Promise<RunningApp> {
  const app = await NestFactory.create(root, await platform(), {
    logger: setup.logger ?? false,
    abortOnError: false,
  });
  setup.configure?.(app);
  await app.listen(0, '127.0.0.1');
  // After a longer stall, a client would use a connection that the server has closed.
  (app.getHttpServer() as Server).keepAliveTimeout = KEEP_ALIVE_MS;
  const url = await app.getUrl();
  return {
    app,
    url,
    get: (path, token, headers = {}) =>
      fetch(`${url}${path}`, {
        headers: { ...(token !== undefined && { 'x-auth-token': token }), ...headers },
      }),
    close: () => app.close(),
  };
}
