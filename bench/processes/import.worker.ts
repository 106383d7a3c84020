import 'reflect-metadata';
import { createRequire } from 'node:module';
import { serve } from './serve.js';

/** The modules to load after the core of NestJS, and how. */
export interface ImportOrder {
  readonly packageName: string;
  readonly way: 'import' | 'require';
}

const handlers = {
  /**
   * Loads a package in this new process, in which NestJS is loaded already, and its garbage collected.
   * Milliseconds of processor time.
   */
  load: async ({ packageName, way }: ImportOrder): Promise<number> => {
    await Promise.all([import('@nestjs/common'), import('@nestjs/core'), import('rxjs')]);
    const require = createRequire(import.meta.url);
    globalThis.gc?.();
    const before = process.cpuUsage();
    if (way === 'import') await import(packageName);
    else require(packageName);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  },
};

export type ImportApi = typeof handlers;
serve(handlers);
