import fc from 'fast-check';
import { texts, weighted } from './drawing.js';

/** The framing of a body: header lines, and the body as it stands on the wire. */
type Framing = (body: string) => { readonly lines: readonly string[]; readonly body: string };

const length = (value: (real: number) => string, ...more: readonly string[]): Framing => {
  return (body) => ({ lines: [`Content-Length: ${value(body.length)}`, ...more], body });
};
/** `N` stands for the length of the body. */
const LENGTHS = [
  (real: number) => `${real + 1}`,
  (real: number) => `${real - 1}`,
  ...texts`0 | 99999 | 1e2 | 18446744073709551617 | +N | -N | N, N | 0N`.map(
    (text) => (real: number) => text.replaceAll('N', `${real}`),
  ),
  (real: number) => `0x${real.toString(16)}`,
  ...texts`N\t | N 1 | ∅ | N.0`.map((text) => (real: number) => text.replace('N', `${real}`)),
].map((value) => length(value));
const DOUBLE_LENGTHS: readonly Framing[] = [
  (body) => ({ lines: [`Content-Length: ${body.length}`, `Content-Length: ${body.length}`], body }),
  (body) => ({ lines: [`Content-Length: ${body.length}`, 'content-length: 0'], body }),
  (body) => ({ lines: ['content-length: 0', `Content-Length: ${body.length}`], body }),
  (body) => ({ lines: [`Content-Length : ${body.length}`], body }),
];

const NONE: Framing = (body) => ({ lines: [], body });

interface ChunkStyle {
  readonly sizes: readonly number[];
  readonly size: (bytes: number) => string;
  readonly gap: string;
  readonly last: string;
}
const CODINGS = [
  ['Chunked'],
  ['chunked', 'Content-Length: 5'],
  ['chunked', 'Transfer-Encoding: chunked'],
  ...texts`gzip, chunked | chunked, gzip | identity | chunked\x20 | \tchunked | xchunked | chunked;a=b | "chunked" |
∅ | chunked, chunked | chunked, identity | chunked\x0b | \x00chunked`.map((coding) => [coding]),
];
const SIZES: readonly ChunkStyle['size'][] = [
  ...texts`0x | + | - | \x20 | 000 | 0000000000000000000000 | 1 | 1000000000000000 | g | ∅`.map(
    (prefix) => (bytes: number) => prefix + bytes.toString(16),
  ),
  ...texts`;a | ;a=b | ;a="b;\r\n" | \x20 | ; | ; a = b | ;\n | \t;a | \x205 | ;a=\xff | h`.map(
    (suffix) => (bytes: number) => bytes.toString(16) + suffix,
  ),
];
const LASTS = texts`0\r\n | 0 | ∅ | 0\n\n | 00\r\n\r\n | 0\r\nX: a\r\n\r\n | 0\r\nContent-Type: text/html\r\n\r\n |
0\r\nContent-Length: 3\r\n\r\n | 0;a\r\n\r\n | 0\r\nX\r\n\r\n | 0\r\nTransfer-Encoding: x\r\n\r\n |
-0\r\n\r\n | 0 \r\n\r\n | 0\r\nHTTP/1.1 200 OK\r\n\r\n | 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n |
0\r\n: a\r\n\r\n`;

const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 3 });
const goodStyle: fc.Arbitrary<ChunkStyle> = fc.record({
  sizes,
  size: fc.constantFrom<ChunkStyle['size'][]>(
    (bytes) => bytes.toString(16),
    (bytes) => bytes.toString(16).toUpperCase(),
    (bytes) => `0${bytes.toString(16)}`,
  ),
  gap: fc.constant('\r\n'),
  last: fc.constant('0\r\n\r\n'),
});
const oddStyle: fc.Arbitrary<ChunkStyle> = fc.oneof(
  fc.tuple(goodStyle, fc.constantFrom(...SIZES)).map(([style, size]) => ({ ...style, size })),
  fc
    .tuple(goodStyle, fc.constantFrom(...texts`\n | ∅ | \r | \x20\r\n | \r\n\r\n | x\r\n`))
    .map(([style, gap]) => ({ ...style, gap })),
  fc.tuple(goodStyle, fc.constantFrom(...LASTS)).map(([style, last]) => ({ ...style, last })),
);

const chunkedAs = (style: ChunkStyle, [coding, ...more]: readonly string[]): Framing => {
  return (body) => ({ lines: [`Transfer-Encoding: ${coding ?? ''}`, ...more], body: inChunks(body, style) });
};
function inChunks(body: string, { sizes, size, gap, last }: ChunkStyle): string {
  let text = '';
  for (let at = 0, index = 0; at < body.length; index += 1) {
    const bytes = index < sizes.length ? (sizes[index] ?? 1) : body.length;
    const chunk = body.slice(at, at + bytes);
    text += `${size(chunk.length)}\r\n${chunk}${gap}`;
    at += chunk.length;
  }
  return text + last;
}

export const framing: fc.Arbitrary<Framing> = weighted(
  [70, fc.constant(length((real) => `${real}`))],
  [5, fc.constantFrom(...LENGTHS, ...DOUBLE_LENGTHS)],
  [4, fc.constant(NONE)],
  [16, goodStyle.map((style) => chunkedAs(style, ['chunked']))],
  [4, oddStyle.map((style) => chunkedAs(style, ['chunked']))],
  [3, fc.tuple(goodStyle, fc.constantFrom(...CODINGS)).map(([style, coding]) => chunkedAs(style, coding))],
);
