import { styleText } from 'node:util';
import type { CommandIo, TextOutput } from './command-io.js';

type Style = Parameters<typeof styleText>[0];

/** Returns a function that colours text for an output: only on a terminal, and not if NO_COLOR is set. */
export function paintFor(output: TextOutput, { env }: Pick<CommandIo, 'env'>): (style: Style, text: string) => string {
  const isColoured = output.isTTY === true && (env.NO_COLOR ?? '') === '';
  return isColoured ? (style, text) => paint(style, text) : (_style, text) => text;
}

/** The caller has decided. Later versions of Node.js decide themselves by default. */
const paint = (style: Style, text: string): string => (styleText as (...args: unknown[]) => string)(style, text, { validateStream: false });
