import { jest } from '@jest/globals';
import { inspect } from 'node:util';

/** Captures output that bypasses the logger. */
export class Printed {
  readonly texts: string[] = [];
  readonly #spies: { mockRestore(): void }[];

  constructor() {
    const print = (chunk: unknown): boolean => this.texts.push(String(chunk)) > 0;
    this.#spies = [
      ...[process.stdout, process.stderr].map((stream) =>
        jest.spyOn(stream, 'write').mockImplementation(print),
      ),
      ...(['log', 'error', 'warn', 'info', 'debug'] as const).map((method) =>
        jest
          .spyOn(console, method)
          .mockImplementation((...entry) => void print(inspect(entry, { depth: Infinity }))),
      ),
    ];
  }

  restore(): void {
    for (const spy of this.#spies) spy.mockRestore();
  }
}
