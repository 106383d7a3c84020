import { type CommandIo, paintFor } from '../command-line/command-line.js';
import type { AdvisedOptions, Check, Outcome } from './examination.js';

const STYLES = { ok: 'green', warn: 'yellow', fail: 'red', unknown: 'gray' } as const satisfies Record<
  Outcome,
  string
>;
const WIDTH = Math.max(...Object.keys(STYLES).map((outcome) => outcome.length));

export interface Report {
  readonly checks: readonly Check[];
  /** Empty if a check failed: options do not mend it. */
  readonly options: Partial<AdvisedOptions>;
}

export function reportAsText({ checks, options }: Report, io: CommandIo): string {
  const paint = paintFor(io);
  const line = ({ id, outcome, text }: Check): string =>
    `${paint(STYLES[outcome], outcome.padEnd(WIDTH))}  ${paint('bold', id)}: ${text}`;
  const known = checks.filter(({ outcome }) => outcome !== 'unknown');
  const unknown = checks.filter(({ outcome }) => outcome === 'unknown');
  return [
    ...known.map(line),
    ...(unknown.length > 0 ? ['', 'Could not be determined:', '', ...unknown.map(line)] : []),
    '',
    ...(options.baseUrl !== undefined
      ? ['Options that follow:', '', optionsAsCode(options)]
      : ['No options follow: correct what fails first.']),
    '',
  ].join('\n');
}

function optionsAsCode({ baseUrl, ...others }: Partial<AdvisedOptions>): string {
  const lines = [
    `baseUrl: ${literal(baseUrl)},`,
    "apiKey: process.env.SESSION_SERVICE_API_KEY ?? '',",
    ...Object.entries(others).map(([name, value]) => `${name}: ${literal(value)},`),
  ];
  return `SessionAuthModule.forRoot({\n${lines.map((text) => `  ${text}`).join('\n')}\n});`;
}

/** Writes a value as code in the style of Nest: single quotes, and no quotes around names. */
function literal(value: unknown): string {
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, (character) => `\\${character}`)}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).map(([name, field]) => `${name}: ${literal(field)}`);
  return `{ ${fields.join(', ')} }`;
}
