import 'reflect-metadata';
import { serve } from './serve.js';

/** The modules to load with NestJS: the module's peers, its HTTP client alone, or the module. */
export interface StartOrder {
  readonly peers?: boolean;
  readonly undici?: boolean;
  readonly module?: boolean;
}

/** Milliseconds of processor time. */
export interface StartTimes {
  /** From the start of the process until everything is loaded, undici too, which the module loads last. */
  readonly processMs: number;
  /** `NestFactory.create()` and `init()`, after a collection of the garbage that was made by loading. */
  readonly buildMs: number;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const handlers = {
  /** Starts an application in this new process. */
  start: async ({ peers, undici, module }: StartOrder): Promise<StartTimes> => {
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
    globalThis.gc?.();
    const before = cpuMs();
    const root = sampleApp(variant({ serviceUrl: 'http://127.0.0.1:9' }));
    const app = await NestFactory.create(root, new FastifyAdapter(), { logger: false, abortOnError: false });
    await app.init();
    const buildMs = cpuMs() - before;
    if (module) await import('undici');
    return { processMs: cpuMs(), buildMs };
  },
};

export type StartAppApi = typeof handlers;
serve(handlers);
