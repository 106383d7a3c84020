import fc from 'fast-check';

const CONTENT_TYPES = [
  ...[
    'text/html',
    'text/plain',
    '',
    ' ',
    'application/json;',
    'application/json ; charset="utf-8"',
    'application/json;charset=latin1',
    'text/json',
  ],
  ...[
    'application/vnd.a+json',
    'application/problem+json; a=b',
    'application/jsonp',
    'application/json-seq',
    'application/json, text/html',
  ],
  ...[
    'text/html, application/json',
    'application/json text/html',
    'application /json',
    '+json',
    '/json',
    'json',
    'a/b+json/c',
    'text/html;application/json',
  ],
  ...[
    'application/json\t',
    'a b/c+json',
    '"/"+json',
    'application/json\xa0',
    'application/json;\xff',
    'multipart/form-data',
    'application/json=1',
  ],
];
const CONTENT_ENCODINGS = [
  'identity',
  'Identity',
  '',
  'gzip',
  'br',
  'x-a',
  'identity, gzip',
  'gzip, identity',
  'identity\t',
  'identity, identity',
];
const ODD_LINES = [
  ...[
    'X: a\r\n folded',
    'X:\r\n\tfolded',
    ' X: leading',
    'X : blank',
    'X',
    ':',
    ': a',
    'X\t: a',
    'X Y: a',
    'X: \0',
    'X: \x7f',
    'X: \x01',
    'X: \x0b\x0c',
  ],
  ...[
    'X: \xff\xfe',
    '\xff: a',
    'X: a\rb',
    'X: a\nY: b',
    'X: a\n\r',
    '\r',
    '__proto__: x',
    'constructor: x',
    'hasOwnProperty: x',
    'status: 401',
  ],
  ...[
    `X: ${'x'.repeat(9_000)}`,
    `X: ${'x'.repeat(20_000)}`,
    'X:\r\nContent-Type: text/html',
    'Content-Type\r\n : text/html',
    'Set-Cookie: a=b',
  ],
  ...[
    'Connection: close',
    'Connection: keep-alive',
    'Connection: upgrade',
    'Upgrade: h2c',
    'Upgrade: h2c\r\nConnection: upgrade',
    'Connection: close, keep-alive',
  ],
  ...[
    'Keep-Alive: timeout=0',
    'Keep-Alive: timeout=-1',
    'Keep-Alive: timeout=1e99',
    'Proxy-Connection: close',
    'Location: http://127.0.0.1:1/',
    'Trailer: X',
  ],
  ...[
    'Retry-After: 7',
    'Retry-After: 1e999',
    'Retry-After: Fri, 31 Dec 9999 23:59:59 GMT',
    'Retry-After: \xff',
    'WWW-Authenticate: Basic',
    'Content-Range: bytes 0-1/9',
  ],
];

const field = (name: string, values: readonly string[]): fc.Arbitrary<string> =>
  fc.constantFrom(...values).map((value) => `${name}: ${value}`);

const oddLine = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...ODD_LINES) },
  { weight: 1, arbitrary: field('content-type', CONTENT_TYPES) },
  { weight: 1, arbitrary: field('Content-Encoding', CONTENT_ENCODINGS) },
);
const contentType = fc.oneof(
  {
    weight: 16,
    arbitrary: fc.constantFrom(
      ['Content-Type: application/json'],
      ['Content-Type: application/json; charset=utf-8'],
      [],
    ),
  },
  { weight: 2, arbitrary: field('CONTENT-TYPE', CONTENT_TYPES).map((line) => [line]) },
);

/** Header lines, without those that say how long the body is. */
export const lines: fc.Arbitrary<string[]> = fc
  .tuple(
    contentType,
    fc.oneof(
      { weight: 8, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(oddLine, { maxLength: 2 }) },
    ),
  )
  .map(([type, odd]) => [...type, ...odd]);
