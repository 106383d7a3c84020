import 'reflect-metadata';
import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { sampleApp } from '../variants/sample-app.js';
import { VARIANTS, type VariantName } from '../variants/variants.js';
import type { VariantSetup } from '../variants/variant.js';
import { serve } from './serve.js';

/** Which application to start. */
export interface AppOrder extends VariantSetup {
  readonly platform: 'Express' | 'Fastify';
  readonly variant: VariantName;
}

const SIGN_INS_AT_ONCE = 20;
let app: INestApplication | undefined;

const handlers = {
  /** Starts the application of one variant; the answer is its URL. */
  start: async ({ platform, variant, ...setup }: AppOrder): Promise<string> => {
    const parts = (await VARIANTS[variant]()).variant(setup);
    const adapter = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter();
    app = await NestFactory.create(sampleApp(parts), adapter, { logger: false, abortOnError: false });
    const server = app.getHttpServer() as Server;
    server.keepAliveTimeout = 600_000;
    await app.listen(0, '127.0.0.1');
    return app.getUrl();
  },
  /** Signs one account in so many times. Only with the library itself. */
  signIn: async (times: number): Promise<void> => {
    const { SessionAuthService } = await import('nestjs-session-auth');
    const sessions = app?.get<InstanceType<typeof SessionAuthService>>(SessionAuthService);
    if (!sessions) throw new Error('No application has been started');
    for (let made = 0; made < times; made += SIGN_INS_AT_ONCE)
      await Promise.all(
        Array.from({ length: SIGN_INS_AT_ONCE }, () => sessions.signIn({ username: 'one', password: 'own' })),
      );
  },
  /** Microseconds of processor time that this process has used. */
  cpuUs: (): number => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  /** Bytes in use after a collection. */
  heapBytes: (): number => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  },
};

export type AppApi = typeof handlers;
serve(handlers);
