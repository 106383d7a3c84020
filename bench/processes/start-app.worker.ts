import 'reflect-metadata';
import { serve } from './serve.js';

/** The modules to load with NestJS: the module's peers, its HTTP client alone, or the module. */
export interface StartOrder {
  readonly peers?: boolean;
  readonly undici?: boolean;
  readonly module?: boolean;
}

const handlers = {
  /** Starts an application in this new process, and returns the milliseconds that Nest took to build it. */
  start: async ({ peers, undici, module }: StartOrder): Promise<number> => {
    const { NestFactory } = await import('@nestjs/core');
    const { FastifyAdapter } = await import('@nestjs/platform-fastify');
    const { sampleApp } = await import('../variants/sample-app.js');
    if (peers)
      await Promise.all([
        import('@nestjs/axios'),
        import('axios'),
        import('class-validator'),
        import('class-transformer'),
      ]);
    if (undici) await import('undici');
    const { variant } = module
      ? await import('../variants/ours.js')
      : await import('../variants/unguarded.js');
    const started = performance.now();
    const root = sampleApp(variant({ serviceUrl: 'http://127.0.0.1:9' }));
    const app = await NestFactory.create(root, new FastifyAdapter(), { logger: false, abortOnError: false });
    await app.init();
    return performance.now() - started;
  },
};

export type StartAppApi = typeof handlers;
serve(handlers);
