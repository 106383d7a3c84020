import type { LoggerService } from '@nestjs/common';
import { inspect } from 'node:util';

/** A logger at the most verbose level that keeps every line. */
export class CapturedLog implements LoggerService {
  readonly lines: string[] = [];

  log(...entry: unknown[]): void {
    this.#keep('log', entry);
  }

  error(...entry: unknown[]): void {
    this.#keep('error', entry);
  }

  warn(...entry: unknown[]): void {
    this.#keep('warn', entry);
  }

  debug(...entry: unknown[]): void {
    this.#keep('debug', entry);
  }

  verbose(...entry: unknown[]): void {
    this.#keep('verbose', entry);
  }

  fatal(...entry: unknown[]): void {
    this.#keep('fatal', entry);
  }

  having(level: string, text: string): string[] {
    return this.lines.filter((line) => line.startsWith(`${level} `) && line.includes(text));
  }

  #keep(level: string, entry: unknown[]): void {
    const texts = entry.map((part) =>
      typeof part === 'string' ? part : inspect(part, { depth: Infinity, showHidden: true }),
    );
    this.lines.push([level, ...texts].join(' '));
  }
}
