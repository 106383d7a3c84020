import fc from 'fast-check';

/** The framing of a body: header lines, and the body as it stands on the wire. */
type Framing = (body: string) => { readonly lines: readonly string[]; readonly body: string };

const length = (value: (real: number) => string, ...more: readonly string[]): Framing => {
  return (body) => ({ lines: [`Content-Length: ${value(body.length)}`, ...more], body });
};
const LENGTHS: readonly Framing[] = [
  ...[
    (real: number) => `${real + 1}`,
    (real: number) => `${real - 1}`,
    () => '0',
    () => '99999',
    () => '1e2',
    () => '18446744073709551617',
  ],
  ...[
    (real: number) => `+${real}`,
    (real: number) => `-${real}`,
    (real: number) => `${real}, ${real}`,
    (real: number) => `0${real}`,
  ],
  ...[
    (real: number) => `0x${real.toString(16)}`,
    (real: number) => `${real}\t`,
    (real: number) => `${real} 1`,
    () => '',
    (real: number) => `${real}.0`,
  ],
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
  ...[
    ['Chunked'],
    ['chunked', 'Content-Length: 5'],
    ['chunked', 'Transfer-Encoding: chunked'],
    ['gzip, chunked'],
    ['chunked, gzip'],
    ['identity'],
  ],
  ...[
    ['chunked '],
    ['\tchunked'],
    ['xchunked'],
    ['chunked;a=b'],
    ['"chunked"'],
    [''],
    ['chunked, chunked'],
    ['chunked, identity'],
    ['chunked\x0b'],
    ['\x00chunked'],
  ],
];
const SIZES: readonly ChunkStyle['size'][] = [
  ...['0x', '+', '-', ' ', '000', '0000000000000000000000', '1', '1000000000000000', 'g', ''].map(
    (prefix) => (bytes: number) => prefix + bytes.toString(16),
  ),
  ...[';a', ';a=b', ';a="b;\r\n"', ' ', ';', '; a = b', ';\n', '\t;a', ' 5', ';a=\xff', 'h'].map(
    (suffix) => (bytes: number) => bytes.toString(16) + suffix,
  ),
];
const LASTS = [
  ...[
    '0\r\n',
    '0',
    '',
    '0\n\n',
    '00\r\n\r\n',
    '0\r\nX: a\r\n\r\n',
    '0\r\nContent-Type: text/html\r\n\r\n',
    '0\r\nContent-Length: 3\r\n\r\n',
    '0;a\r\n\r\n',
  ],
  ...[
    '0\r\nX\r\n\r\n',
    '0\r\nTransfer-Encoding: x\r\n\r\n',
    '-0\r\n\r\n',
    '0 \r\n\r\n',
    '0\r\nHTTP/1.1 200 OK\r\n\r\n',
    '0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
    '0\r\n: a\r\n\r\n',
  ],
];

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
    .tuple(goodStyle, fc.constantFrom('\n', '', '\r', ' \r\n', '\r\n\r\n', 'x\r\n'))
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

export const framing: fc.Arbitrary<Framing> = fc.oneof(
  { weight: 70, arbitrary: fc.constant(length((real) => `${real}`)) },
  { weight: 5, arbitrary: fc.constantFrom(...LENGTHS, ...DOUBLE_LENGTHS) },
  { weight: 4, arbitrary: fc.constant(NONE) },
  { weight: 16, arbitrary: goodStyle.map((style) => chunkedAs(style, ['chunked'])) },
  { weight: 4, arbitrary: oddStyle.map((style) => chunkedAs(style, ['chunked'])) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(goodStyle, fc.constantFrom(...CODINGS))
      .map(([style, coding]) => chunkedAs(style, coding)),
  },
);
