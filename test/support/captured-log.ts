import type { LoggerService } from '@nestjs/common';
import { inspect } from 'node:util';

/** A logger at the most verbose level that keeps every line. */
export class CapturedLog implements LoggerService {
  readonly lines: string[] = [];

  readonly log = this.#keeper('log');
  readonly error = this.#keeper('error');
  readonly warn = this.#keeper('warn');
  readonly debug = this.#keeper('debug');
  readonly verbose = this.#keeper('verbose');
  readonly fatal = this.#keeper('fatal');

  having(level: string, text: string): string[] {
    return this.lines.filter((line) => line.startsWith(`${level} `) && line.includes(text));
  }

  #keeper(level: string): (...entry: unknown[]) => void {
    const textOf = (part: unknown): string =>
      typeof part === 'string' ? part : inspect(part, { depth: Infinity, showHidden: true });
    return (...entry) => void this.lines.push([level, ...entry.map(textOf)].join(' '));
  }
}
