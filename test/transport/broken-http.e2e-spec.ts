import { describe, expect, it } from '@jest/globals';
import { oneOf } from '../support/long-form.js';
import { PLATFORMS } from '../support/platforms.js';
import { bytes, bytesThenReset, drop, halfClose, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { TRANSPORTS } from '../support/transports.js';

const ANN = '{"username":"ann"}';
const OK = 'HTTP/1.1 200 OK';
const TYPE = 'Content-Type: application/json';
const LENGTH = `Content-Length: ${ANN.length}`;

const BROKEN: [string, Script][] = [
  ['a reset at once', drop],
  ['an end at once', halfClose],
  ['a reset in the status line', bytesThenReset('HTTP/1.1 2')],
  ['a reset in the headers', bytesThenReset(OK, 'Content-Le')],
  ['an end in the headers', bytes(OK, TYPE)],
  ['a body shorter than declared, and an end', bytes(OK, TYPE, 'Content-Length: 100', '', ANN)],
  ['a body shorter than declared, and a reset', bytesThenReset(OK, TYPE, 'Content-Length: 100', '', ANN)],
  ['chunks without their end', bytes(OK, TYPE, 'Transfer-Encoding: chunked', '', '12', ANN, '')],
  ['a chunk without a size', bytes(OK, TYPE, 'Transfer-Encoding: chunked', '', ANN, '0', '', '')],
  ['garbage', bytes('\x16\x03\x01 this is not HTTP', '', '')],
  ['another protocol', bytes('SSH-2.0-server', '')],
  ['a status that is no number', bytes('HTTP/1.1 abc OK', LENGTH, '', ANN)],
  ['a status of two digits', bytes('HTTP/1.1 20 OK', LENGTH, '', ANN)],
  ['a status of four digits', bytes('HTTP/1.1 2000 OK', LENGTH, '', ANN)],
  ['a length and chunks at once', bytes(OK, TYPE, LENGTH, 'Transfer-Encoding: chunked', '', '12', ANN, '0', '', '')],
  ['two different lengths', bytes(OK, TYPE, LENGTH, 'Content-Length: 5', '', ANN)],
  ['the same length twice', bytes(OK, TYPE, LENGTH, LENGTH, '', ANN)],
  ['a length that is no number', bytes(OK, TYPE, 'Content-Length: many', '', ANN)],
  ['a negative length', bytes(OK, TYPE, 'Content-Length: -1', '', ANN)],
  ['a header line without a colon', bytes(OK, TYPE, 'nonsense', LENGTH, '', ANN)],
  ['headers of 20 kB', bytes(OK, TYPE, `X-Filler: ${'x'.repeat(20_000)}`, LENGTH, '', ANN)],
  [
    'many headers, of 20 kB in all',
    bytes(OK, TYPE, ...Array.from({ length: 400 }, (_, index) => `X-Filler-${index}: ${'x'.repeat(40)}`), LENGTH, '', ANN),
  ],
];

const SOUND: [string, Script][] = [
  ['a reply', bytes(OK, TYPE, LENGTH, 'Connection: close', '', ANN)],
  ['a reply that ends with the connection', bytes(OK, TYPE, 'Connection: close', '', ANN)],
  ['a reply in chunks', bytes(OK, TYPE, 'Transfer-Encoding: chunked', 'Connection: close', '', '12', ANN, '0', '', '')],
  ['an early hint and then a reply', bytes('HTTP/1.1 103 Early Hints', 'Link: </a>', '', OK, TYPE, LENGTH, 'Connection: close', '', ANN)],
];

describe.each(oneOf(PLATFORMS))('on %s', (_name, platform) => {
  const bed = testbed(platform);

  describe.each(TRANSPORTS)('over %s', (_transport, http) => {
    it.each(BROKEN)('%s makes the reply 503, after two calls at most, and the next caller is served', async (_case, script) => {
      let broken = true;
      const sound = bytes(OK, TYPE, LENGTH, 'Connection: close', '', ANN);
      const service = await bed.serviceThat((...call) => (broken ? script : sound)(...call));
      const app = await bed.sample({ baseUrl: service.url, options: { timeoutMs: 60_000, http: http() } });

      expect((await app.get('/me', 'token')).status).toBe(503);
      expect(service.requests.length).toBeLessThanOrEqual(2);
      broken = false;
      expect((await app.get('/me', 'token')).status).toBe(200);
    });

    it.each(SOUND)('%s lets the caller in', async (_case, script) => {
      const service = await bed.serviceThat(script);
      const app = await bed.sample({ baseUrl: service.url, options: { http: http() } });

      expect((await app.get('/me', 'token')).status).toBe(200);
    });
  });
});
