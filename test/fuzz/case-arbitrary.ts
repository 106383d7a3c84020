import fc from 'fast-check';
import { texts, weighted } from './drawing.js';
import { body } from './body-arbitraries.js';
import { framing } from './framing-arbitraries.js';
import { readAnswer } from './http-reading.js';
import { lines } from './field-arbitraries.js';
import { interim, statusLine } from './head-arbitraries.js';
import type { Ending, WireCase } from './wire-case.js';

interface Damage {
  readonly at: number;
  readonly kind: 'replace' | 'insert' | 'delete' | 'cut' | 'repeat';
  readonly text: string;
}

const BYTES = texts`\0 | \r | \n | \r\n | \x20 | \t | : | ; | , | 0 | 9 | f | " | { | } | \\ | \x0b | \x7f | \x80 | \xff |
\r\n\r\n`;
const oneDamage: fc.Arbitrary<Damage> = fc.record({
  at: fc.nat(9_999),
  kind: fc.constantFrom<Damage['kind'][]>('replace', 'insert', 'delete', 'cut', 'repeat'),
  text: fc.constantFrom(...BYTES),
});
const damages: fc.Arbitrary<Damage[]> = weighted(
  [15, fc.constant<Damage[]>([])],
  [1, fc.array(oneDamage, { minLength: 1, maxLength: 2 })],
);

const TRAILING = texts`\r\n | \x20 | x | \0 | {} | HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n{"username":"eve"} |
HTTP/1.1 401 U\r\n\r\n`;
const trailing = weighted([30, fc.constant('')], [1, fc.constantFrom(...TRAILING)]);

type EndingOf = (framing: readonly string[]) => Ending;
const ending: fc.Arbitrary<EndingOf> = weighted(
  [80, fc.constant<EndingOf>((framed) => (framed.length > 0 ? 'keep' : 'end'))],
  [2, fc.constant<EndingOf>(() => 'keep')],
  [4, fc.constant<EndingOf>(() => 'end')],
  [2, fc.constant<EndingOf>(() => 'reset')],
);
const cuts = weighted([8, fc.constant([])], [1, fc.array(fc.nat(9_999), { minLength: 1, maxLength: 4 })]);

/**
 * Whether an answer without an end is followed by silence and not by a close: rarely, because each silence
 * lasts until the deadline.
 */
const silence = fc.nat(7).map((drawn) => drawn === 7);

/** An answer to user_details: most often as it should be, with something wrong here and there. */
export const wireCase: fc.Arbitrary<WireCase> = fc
  .record({ interim, statusLine, lines, body, framing, trailing, damages, ending, cuts, silence })
  .map((parts) => {
    const framed = parts.framing(emptyOnRefusal(parts.statusLine, parts.body));
    const head = [parts.statusLine, ...parts.lines, ...framed.lines, '', ''].join('\r\n');
    const bytes = parts.damages.reduce(damage, parts.interim + head + framed.body + parts.trailing);
    const ending = parts.ending(framed.lines);
    const waits = ending === 'keep' && !parts.silence && readAnswer(bytes, ending).kind !== 'answer';
    return { bytes, ending: waits ? 'end' : ending, cuts: parts.cuts };
  });

/** Refusals have no body; a long one stays, so that refusals with bodies come up too. */
function emptyOnRefusal(status: string, text: string): string {
  return status.startsWith('HTTP/1.1 4') && text.length < 60 ? '' : text;
}

function damage(bytes: string, { at, kind, text }: Damage): string {
  const place = at % (bytes.length + 1);
  const before = bytes.slice(0, place);
  if (kind === 'cut') return before;
  if (kind === 'repeat') return before + bytes.slice(Math.max(0, place - 20));
  return before + (kind === 'delete' ? '' : text) + bytes.slice(kind === 'insert' ? place : place + 1);
}
