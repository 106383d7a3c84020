import fc from 'fast-check';

const STRANGE_STATUS_LINES = [
  ...['HTTP/1.1 200', 'HTTP/1.1 200 ', 'HTTP/1.1 200 \xff\x80', 'HTTP/1.0 200 OK', 'HTTP/2.0 200 OK', 'HTTP/0.9 200 OK', 'HTTP/1.2 200 OK'],
  ...[
    'HTTP/1.1  200 OK',
    'HTTP/1.1\t200 OK',
    'http/1.1 200 OK',
    'HTTP/1.1 0200 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 +200 OK',
  ],
  ...[
    'HTTP/1.1 200OK',
    'HTTP/1.1 2 00',
    'HTTP/1.1 2e2 OK',
    'HTTP/1.1 0xc8 OK',
    'HTTP/11 200 OK',
    'ICY 200 OK',
    ' HTTP/1.1 200 OK',
    '200 OK',
  ],
  ...['HTTP/1.1 200 OK\r', 'HTTP/1.1 200 a\rb', 'HTTP/1.1 200 \0', '\r\nHTTP/1.1 200 OK', 'HTTP/1.1 000 OK', 'RTSP/1.0 200 OK', ''],
];
const statusLineOf = (status: number): string => `HTTP/1.1 ${status} S`;

export const statusLine: fc.Arbitrary<string> = fc.oneof(
  { weight: 60, arbitrary: fc.constant('HTTP/1.1 200 OK') },
  { weight: 25, arbitrary: fc.constantFrom(401, 400, 403, 404).map(statusLineOf) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(201, 202, 203, 204, 205, 206, 299, 301, 302, 304, 402, 405, 408, 410, 429, 500, 503).map(statusLineOf),
  },
  { weight: 2, arbitrary: fc.integer({ min: 100, max: 999 }).map(statusLineOf) },
  { weight: 4, arbitrary: fc.constantFrom(...STRANGE_STATUS_LINES) },
);

/** Answers that come before the answer. */
const INTERIM = [
  ...['HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', 'HTTP/1.1 102 Processing\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ...['HTTP/1.1 103 H\r\nContent-Length: 5\r\n\r\n', 'HTTP/1.1 103 H\r\nContent-Type: text/html\r\n\r\n', 'HTTP/1.1 101 S\r\n\r\n'],
  ...[
    'HTTP/1.1 103 H\r\nTransfer-Encoding: chunked\r\n\r\n',
    'HTTP/1.1 101 S\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n',
    '\r\n',
    '\n',
  ],
];
export const interim: fc.Arbitrary<string> = fc.oneof(
  { weight: 40, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom(...INTERIM) },
);

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
  { weight: 12, arbitrary: fc.constantFrom(['Content-Type: application/json'], ['Content-Type: application/json; charset=utf-8'], []) },
  { weight: 2, arbitrary: field('CONTENT-TYPE', CONTENT_TYPES).map((line) => [line]) },
);

/** Header lines, without those that say how long the body is. */
export const lines: fc.Arbitrary<string[]> = fc
  .tuple(contentType, fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(oddLine, { maxLength: 2 }) }))
  .map(([type, odd]) => [...type, ...odd]);
