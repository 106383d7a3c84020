import fc from 'fast-check';
import { texts, weighted } from './drawing.js';

const CONTENT_TYPES = texts`text/html | text/plain | ∅ | \x20 | application/json; | application/json ; charset="utf-8" |
application/json;charset=latin1 | text/json | application/vnd.a+json | application/problem+json; a=b |
application/jsonp | application/json-seq | application/json, text/html | text/html, application/json |
application/json text/html | application /json | +json | /json | json | a/b+json/c |
text/html;application/json | application/json\t | a b/c+json | "/"+json | application/json\xa0 |
application/json;\xff | multipart/form-data | application/json=1`;
const CONTENT_ENCODINGS = texts`identity | Identity | ∅ | gzip | br | x-a | identity, gzip | gzip, identity | identity\t |
identity, identity`;
const ODD_LINES = [
  ...texts`X: a\r\n folded | X:\r\n\tfolded | \x20X: leading | X : blank | X | : | : a | X\t: a | X Y: a | X: \0 |
X: \x7f | X: \x01 | X: \x0b\x0c | X: \xff\xfe | \xff: a | X: a\rb | X: a\nY: b | X: a\n\r | \r |
__proto__: x | constructor: x | hasOwnProperty: x | status: 401`,
  `X: ${'x'.repeat(9_000)}`,
  `X: ${'x'.repeat(20_000)}`,
  ...texts`X:\r\nContent-Type: text/html | Content-Type\r\n : text/html | Set-Cookie: a=b | Connection: close |
Connection: keep-alive | Connection: upgrade | Upgrade: h2c | Upgrade: h2c\r\nConnection: upgrade |
Connection: close, keep-alive | Keep-Alive: timeout=0 | Keep-Alive: timeout=-1 |
Keep-Alive: timeout=1e99 | Proxy-Connection: close | Location: http://127.0.0.1:1/ | Trailer: X |
Retry-After: 7 | Retry-After: 1e999 | Retry-After: Fri, 31 Dec 9999 23:59:59 GMT | Retry-After: \xff |
WWW-Authenticate: Basic | Content-Range: bytes 0-1/9`,
];

const field = (name: string, values: readonly string[]): fc.Arbitrary<string> =>
  fc.constantFrom(...values).map((value) => `${name}: ${value}`);

const oddLine = weighted(
  [2, fc.constantFrom(...ODD_LINES)],
  [1, field('content-type', CONTENT_TYPES)],
  [1, field('Content-Encoding', CONTENT_ENCODINGS)],
);
const contentType = weighted(
  [
    16,
    fc.constantFrom(
      ['Content-Type: application/json'],
      ['Content-Type: application/json; charset=utf-8'],
      [],
    ),
  ],
  [2, field('CONTENT-TYPE', CONTENT_TYPES).map((line) => [line])],
);

/** Header lines, without those that say how long the body is. */
export const lines: fc.Arbitrary<string[]> = fc
  .tuple(contentType, weighted([8, fc.constant([])], [1, fc.array(oddLine, { maxLength: 2 })]))
  .map(([type, odd]) => [...type, ...odd]);
