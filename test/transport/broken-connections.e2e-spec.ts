import { describe, expect, it } from '@jest/globals';
import { startSessionService } from 'nestjs-session-auth/testing';
import { bytes, bytesThenReset, drop, json, halfClose, type Script } from '../support/scripted-service.js';
import { platforms } from '../support/platforms.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';
import { testbed } from '../support/testbed.js';
import { TRANSPORTS } from '../support/transports.js';

const OK = 'HTTP/1.1 200 OK';
const TYPE = 'Content-Type: application/json';

describe.each(platforms('Express'))('connections on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'a service that refuses connections becomes 503 [D01]',
    async (trial) => {
      await trial.service.close();
      expect(await trial.status()).toBe(503);
      expect(trial.calls()).toBe(0);
    },
    {
      recover: async (trial) => {
        const back = trial.keep(await startSessionService({ port: Number(new URL(trial.service.url).port) }));
        back.on('user_details', json(ANN));
      },
    },
  );

  row(
    'a service whose host does not resolve becomes 503, before the deadline [D02]',
    async (trial) => expect(await trial.status()).toBe(503),
    { baseUrl: () => 'http://sessions.invalid', recover: false },
  );
});

const ANN_JSON = '{"username":"ann"}';
const ANN_LENGTH = `Content-Length: ${ANN_JSON.length}`;

const BROKEN: [string, Script][] = [
  ['a reset at once', drop],
  ['an end at once', halfClose],
  ['a reset in the status line', bytesThenReset('HTTP/1.1 2')],
  ['a reset in the headers', bytesThenReset(OK, 'Content-Le')],
  ['a body shorter than declared, and an end', bytes(OK, TYPE, 'Content-Length: 100', '', ANN_JSON)],
  [
    'a body shorter than declared, and a reset',
    bytesThenReset(OK, TYPE, 'Content-Length: 100', '', ANN_JSON),
  ],
  ['chunks without their end', bytes(OK, TYPE, 'Transfer-Encoding: chunked', '', '12', ANN_JSON, '')],
  ['a chunk without a size', bytes(OK, TYPE, 'Transfer-Encoding: chunked', '', ANN_JSON, '0', '', '')],
  ['garbage', bytes('\x16\x03\x01 this is not HTTP', '', '')],
  ['a status of four digits', bytes('HTTP/1.1 2000 OK', ANN_LENGTH, '', ANN_JSON)],
  [
    'a length and chunks at once',
    bytes(OK, TYPE, ANN_LENGTH, 'Transfer-Encoding: chunked', '', '12', ANN_JSON, '0', '', ''),
  ],
  ['two different lengths', bytes(OK, TYPE, ANN_LENGTH, 'Content-Length: 5', '', ANN_JSON)],
  ['the same length twice', bytes(OK, TYPE, ANN_LENGTH, ANN_LENGTH, '', ANN_JSON)],
  ['headers of 20 kB', bytes(OK, TYPE, `X-Filler: ${'x'.repeat(20_000)}`, ANN_LENGTH, '', ANN_JSON)],
  [
    'many headers, of 20 kB in all',
    bytes(
      OK,
      TYPE,
      ...Array.from({ length: 400 }, (_, index) => `X-Filler-${index}: ${'x'.repeat(40)}`),
      ANN_LENGTH,
      '',
      ANN_JSON,
    ),
  ],
];

const SOUND: [string, Script][] = [
  ['a reply', bytes(OK, TYPE, ANN_LENGTH, 'Connection: close', '', ANN_JSON)],
  ['a reply that ends with the connection', bytes(OK, TYPE, 'Connection: close', '', ANN_JSON)],
  [
    'a reply in chunks',
    bytes(OK, TYPE, 'Transfer-Encoding: chunked', 'Connection: close', '', '12', ANN_JSON, '0', '', ''),
  ],
];

describe.each(platforms('Express'))('on %s', (_name, platform) => {
  const bed = testbed(platform);

  describe.each(TRANSPORTS)('over %s', (_transport, http) => {
    it.each(BROKEN)(
      '%s makes the reply 503, after two calls at most, and the next caller is served [D04] [D05] [D08]',
      async (_case, script) => {
        let broken = true;
        const sound = bytes(OK, TYPE, ANN_LENGTH, 'Connection: close', '', ANN_JSON);
        const service = await bed.serviceThat((...call) => (broken ? script : sound)(...call));
        const app = await bed.sample({ baseUrl: service.url, options: { timeoutMs: 60_000, http: http() } });

        expect((await app.get('/me', 'token')).status).toBe(503);
        expect(service.requests.length).toBeLessThanOrEqual(2);
        broken = false;
        expect((await app.get('/me', 'token')).status).toBe(200);
      },
    );

    it.each(SOUND)('%s lets the caller in', async (_case, script) => {
      const service = await bed.serviceThat(script);
      const app = await bed.sample({ baseUrl: service.url, options: { http: http() } });

      expect((await app.get('/me', 'token')).status).toBe(200);
    });
  });
});
