import fc from 'fast-check';
import { texts, weighted } from './drawing.js';

const STRANGE_STATUS_LINES = texts`HTTP/1.1 200 | HTTP/1.1 200\x20 | HTTP/1.1 200 \xff\x80 | HTTP/1.0 200 OK | HTTP/2.0 200 OK |
HTTP/0.9 200 OK | HTTP/1.2 200 OK | HTTP/1.1  200 OK | HTTP/1.1\t200 OK | http/1.1 200 OK |
HTTP/1.1 0200 OK | HTTP/1.1 2000 OK | HTTP/1.1 20 OK | HTTP/1.1 +200 OK | HTTP/1.1 200OK | HTTP/1.1 2 00 |
HTTP/1.1 2e2 OK | HTTP/1.1 0xc8 OK | HTTP/11 200 OK | ICY 200 OK | \x20HTTP/1.1 200 OK | 200 OK |
HTTP/1.1 200 OK\r | HTTP/1.1 200 a\rb | HTTP/1.1 200 \0 | \r\nHTTP/1.1 200 OK | HTTP/1.1 000 OK |
RTSP/1.0 200 OK | ∅`;
const statusLineOf = (status: number): string => `HTTP/1.1 ${status} S`;

export const statusLine: fc.Arbitrary<string> = weighted(
  [60, fc.constant('HTTP/1.1 200 OK')],
  [25, fc.constantFrom(401, 400, 403, 404).map(statusLineOf)],
  [
    6,
    fc
      .constantFrom(201, 202, 203, 204, 205, 206, 299, 301, 302, 304, 402, 405, 408, 410, 429, 500, 503)
      .map(statusLineOf),
  ],
  [2, fc.integer({ min: 100, max: 999 }).map(statusLineOf)],
  [3, fc.constantFrom(...STRANGE_STATUS_LINES)],
);

/** Answers that come before the answer. */
const INTERIM = texts`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n | HTTP/1.1 102 Processing\r\n\r\n |
HTTP/1.1 100 Continue\r\n\r\n | HTTP/1.1 103 H\r\nContent-Length: 5\r\n\r\n |
HTTP/1.1 103 H\r\nContent-Type: text/html\r\n\r\n | HTTP/1.1 101 S\r\n\r\n |
HTTP/1.1 103 H\r\nTransfer-Encoding: chunked\r\n\r\n |
HTTP/1.1 101 S\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n | \r\n | \n`;
export const interim: fc.Arbitrary<string> = weighted(
  [40, fc.constant('')],
  [1, fc.constantFrom(...INTERIM)],
);
