import 'reflect-metadata';
import { createRequire } from 'node:module';
import { serve } from './serve.js';

/** The modules to load after the core of NestJS, and how. */
export interface ImportOrder {
  readonly packageName: string;
  readonly way: 'import' | 'require';
}

/** Milliseconds that loading took. */
export interface ImportTimes {
  readonly elapsedMs: number;
  readonly cpuMs: number;
}

const handlers = {
  /** Loads a package in this new process, in which NestJS is loaded already. */
  load: async ({ packageName, way }: ImportOrder): Promise<ImportTimes> => {
    await Promise.all([import('@nestjs/common'), import('@nestjs/core'), import('rxjs')]);
    const require = createRequire(import.meta.url);
    const before = process.cpuUsage();
    const started = performance.now();
    if (way === 'import') await import(packageName);
    else require(packageName);
    const elapsedMs = performance.now() - started;
    const { user, system } = process.cpuUsage(before);
    return { elapsedMs, cpuMs: (user + system) / 1_000 };
  },
};

export type ImportApi = typeof handlers;
serve(handlers);
