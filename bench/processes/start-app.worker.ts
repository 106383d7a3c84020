import 'reflect-metadata';
import { serve } from './serve.js';

const handlers = {
  /** Starts an application in this new process, and gives the milliseconds that Nest took to build it. */
  start: async ({ peers, module }: { peers: boolean; module: boolean }): Promise<number> => {
    const { NestFactory } = await import('@nestjs/core');
    const { FastifyAdapter } = await import('@nestjs/platform-fastify');
    const { sampleApp } = await import('../variants/sample-app.js');
    if (peers) await Promise.all([import('@nestjs/axios'), import('axios'), import('class-validator'), import('class-transformer')]);
    const { variant } = module ? await import('../variants/ours.js') : await import('../variants/unguarded.js');
    const started = performance.now();
    const root = sampleApp(variant({ serviceUrl: 'http://127.0.0.1:9' }));
    const app = await NestFactory.create(root, new FastifyAdapter(), { logger: false, abortOnError: false });
    await app.init();
    return performance.now() - started;
  },
};

export type StartAppApi = typeof handlers;
serve(handlers);
