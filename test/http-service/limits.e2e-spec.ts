import { describe, expect, it } from '@jest/globals';
import { Agent } from 'node:http';
import { gzipSync } from 'node:zlib';
import { SessionHttpService } from 'nestjs-session-auth';
import { oneOf } from '../support/long-form.js';
import { PLATFORMS } from '../support/platforms.js';
import { bytes, reply, silence, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { ANN, OPERATIONS, seam, type Seam } from './three-calls.js';

const RECORD = JSON.stringify(ANN);

const TAKEN: [string, (taken: Seam) => void][] = [
  ['an interceptor', (taken) => void taken.axios().interceptors.request.use((config) => config)],
  ['an agent on axiosRef', (taken) => void (taken.axios().defaults.httpAgent = new Agent({ keepAlive: true }))],
  [
    'an interceptor that asks for more than is allowed',
    (taken) =>
      void taken
        .axios()
        .interceptors.request.use((config) =>
          Object.assign(config, { maxRedirects: 5, maxContentLength: -1, decompress: true, timeout: 0 }),
        ),
  ],
];

const chunked =
  (body: string): Script =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(body.slice(0, 9));
    response.end(body.slice(9));
  };

const endless: Script = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = (): void => {
    while (!response.destroyed && response.write(' '.repeat(16_384)));
  };
  response.on('drain', more);
  more();
};

const UNUSABLE: [string, Script][] = [
  ['a body over the limit', reply(200, RECORD.padEnd(201), { 'content-type': 'application/json' })],
  ['a body over the limit in pieces', chunked(RECORD.padEnd(201))],
  ['a body without an end', endless],
  ['gzip that nobody asked for', reply(200, gzipSync(RECORD), { 'content-type': 'application/json', 'content-encoding': 'gzip' })],
  ['another media type', reply(200, RECORD, { 'content-type': 'text/html' })],
];

describe.each(oneOf(PLATFORMS))('a limit on %s', (_name, platform) => {
  const bed = testbed(platform);

  describe.each(TAKEN)('with %s', (_taken, take) => {
    const MAX = { maxResponseBytes: 200 };

    it.each(UNUSABLE)('holds: %s makes a check and a sign-in 503', async (_case, script) => {
      const taken = await seam(bed, MAX, script);
      take(taken);

      expect((await taken.callAll()).slice(0, 2)).toEqual([503, 503]);
    });

    it('lets a body in that is exactly as long as allowed', async () => {
      const taken = await seam(bed, MAX, reply(200, RECORD.padEnd(200), { 'content-type': 'application/json' }));
      take(taken);

      expect(await taken.callAll()).toEqual([200, 200, 200]);
    });

    it('holds: a redirect is not followed, and nobody connects to its target', async () => {
      const target = await bed.serviceThat(bytes('HTTP/1.1 200 OK', 'Content-Type: application/json', 'Connection: close', '', RECORD));
      const taken = await seam(bed, {}, reply(307, '', { location: `${target.url}/authentication/user_details` }));
      take(taken);

      expect(await taken.callAll()).toEqual([503, 503, 503]);
      expect(target.connections()).toBe(0);
    });

    it('holds: a service that never answers makes all three calls 503, each after one attempt', async () => {
      const taken = await seam(bed, {}, silence);
      take(taken);

      expect(await taken.callAll()).toEqual([503, 503, 503]);
      expect(taken.service.requests).toHaveLength(3);
    });

    it('holds: a service that never answers leaves no connection open', async () => {
      const silent = await bed.serviceThat(silence);
      const options = { timeoutMs: 300, retry: false } as const;
      const app = await bed.sample({ baseUrl: silent.url, options });
      take({ axios: () => app.app.get(SessionHttpService).axiosRef } as Seam);

      expect((await app.get('/me', 'token')).status).toBe(503);
      await silent.idle();
    });
  });

  it('is no hindrance to the next call: an interceptor sees each of the three once', async () => {
    const taken = await seam(bed);
    for (const [, take] of TAKEN) take(taken);

    expect(await taken.callAll()).toEqual([200, 200, 200]);
    expect(taken.service.requests).toHaveLength(OPERATIONS.length);
  });
});
