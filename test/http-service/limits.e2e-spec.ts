import { describe, expect, it } from '@jest/globals';
import { Agent, type ClientRequestArgs } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Socket } from 'node:net';
import { platforms } from '../support/platforms.js';
import { bytes, reply, silence, drop, json, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { ANN, answerAll, OPERATIONS, seam, sharedSeam, type Seam } from './three-calls.js';

const RECORD = JSON.stringify(ANN);

const LIMITED: [string, (taken: Seam) => void][] = [
  [
    'an agent on axiosRef',
    (taken) => void (taken.axios().defaults.httpAgent = new Agent({ keepAlive: true })),
  ],
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
  ['a body over the limit in pieces', chunked(RECORD.padEnd(201))],
  ['a body without an end', endless],
  [
    'gzip without a request for it',
    reply(200, gzipSync(RECORD), { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
  ],
];

describe.each(platforms('Express'))('a limit on %s', (_name, platform) => {
  const bed = testbed(platform);

  describe.each(LIMITED)('with %s', (_taken, take) => {
    const limited = sharedSeam(platform, { maxResponseBytes: 200 }, take);

    function answers(script: Script): Promise<number[]> {
      answerAll(limited().service, script);
      return limited().callAll();
    }

    it.each(UNUSABLE)('holds: %s makes a check and a sign-in 503', async (_case, script) => {
      expect((await answers(script)).slice(0, 2)).toEqual([503, 503]);
    });

    it('accepts a body of exactly the maximum length', async () => {
      const longest = reply(200, RECORD.padEnd(200), { 'content-type': 'application/json' });
      expect(await answers(longest)).toEqual([200, 200, 200]);
    });

    it('holds: a redirect is not followed, and its target gets no connection', async () => {
      const target = await bed.serviceThat(
        bytes('HTTP/1.1 200 OK', 'Content-Type: application/json', 'Connection: close', '', RECORD),
      );
      const location = `${target.url}/authentication/user_details`;
      expect(await answers(reply(307, '', { location }))).toEqual([503, 503, 503]);
      expect(target.connections()).toBe(0);
    });

    it('holds: a service that never answers makes all three calls 503, each after one attempt, and no connection stays open', async () => {
      const taken = await seam(bed, {}, silence);
      take(taken);

      expect(await taken.callAll()).toEqual([503, 503, 503]);
      expect(taken.service.requests).toHaveLength(3);
      await taken.service.idle();
    });
  });

  it('does not affect the next call: an interceptor receives each of the three once', async () => {
    const taken = await seam(bed);
    for (const [, take] of LIMITED) take(taken);

    expect(await taken.callAll()).toEqual([200, 200, 200]);
    expect(taken.service.requests).toHaveLength(OPERATIONS.length);
  });
});

/** An agent that counts the connections it makes, also those of its copies. */
class CountingAgent extends Agent {
  readonly made = { connections: 0 };

  override createConnection(...connection: [ClientRequestArgs]): Socket {
    this.made.connections += 1;
    return (super.createConnection as (...connection: unknown[]) => Socket)(...connection);
  }
}

/** An agent with state that no copy of it has. */
class PrivateAgent extends Agent {
  #connections = 0;

  override createConnection(...connection: [ClientRequestArgs]): Socket {
    this.#connections += 1;
    return (super.createConnection as (...connection: unknown[]) => Socket)(...connection);
  }

  get connections(): number {
    return this.#connections;
  }
}

/** The header lines of each request, in their order. */
const written = ({ service }: Seam): unknown[] =>
  service.requests.map(({ method, path, rawHeaders, body }) => [
    method,
    path,
    body,
    rawHeaders.map((text) => text.replace(/^127\.0\.0\.1:\d+$/, 'host')),
  ]);

/** On connections that are not used yet, a reset is no sign of an idle one; after a 429, calls may pause. */
const ANSWERS: [string, Script][] = [
  ['a reset', drop],
  ['200 with a record', json(ANN)],
  ['202', reply(202)],
  ['302', reply(302, '', { location: '/' })],
  ['404 with a body', reply(404, 'no such page')],
  ['429', reply(429, '', { 'retry-after': '7' })],
];

const TAKEN: [string, (taken: Seam) => void][] = [
  ['axiosRef was read', (taken) => void taken.axios()],
  ['an interceptor does nothing', (taken) => void taken.axios().interceptors.request.use((config) => config)],
  ['an agent was set', (taken) => void (taken.axios().defaults.httpAgent = new Agent({ keepAlive: true }))],
];

describe.each(platforms('Express'))('a call on %s', (_name, platform) => {
  const bed = testbed(platform);

  describe('through axiosRef', () => {
    const untouched = sharedSeam(platform, {}, () => undefined);
    const used = TAKEN.map(([, take]) => sharedSeam(platform, {}, take));

    it.each(ANSWERS)(
      'has the outcome that it has without, if it is answered with %s',
      async (_case, script) => {
        const outcomes: unknown[] = [];
        for (const each of [untouched, ...used]) {
          const { service, callAll } = each();
          answerAll(service, script);
          outcomes.push([await callAll(), service.requests.map(({ method }) => method)]);
        }
        expect(outcomes).toEqual(outcomes.map(() => outcomes[0]));
      },
    );
  });

  it.each(TAKEN.slice(0, 2))('has exactly the same headers when %s', async (_case, take) => {
    const [untouched, taken] = [await seam(bed), await seam(bed)];
    take(taken);
    for (const one of [untouched, taken]) await one.callAll();

    expect(written(taken)).toEqual(written(untouched));
  });

  it('passes on the Retry-After of the service after axiosRef was used', async () => {
    const taken = await seam(bed, {}, reply(429, '', { 'retry-after': '7' }));
    taken.axios();

    expect((await taken.app.get('/me', 'token')).headers.get('retry-after')).toBe('7');
  });

  it.each(['before the first call', 'after calls were made'])(
    'goes over an agent that is set on axiosRef %s',
    async (when) => {
      const { axios, callAll } = await seam(bed);
      if (when === 'after calls were made') await callAll();
      const agent = new CountingAgent({ keepAlive: true });
      axios().defaults.httpAgent = agent;

      expect(await callAll()).toEqual([200, 200, 200]);
      expect(agent.made.connections).toBe(3);
      expect((await callAll())[0]).toBe(200);
      expect(agent.made.connections).toBe(5);
    },
  );

  it('goes over an agent of a class with private fields', async () => {
    const agent = new PrivateAgent({ keepAlive: true });
    const { callAll } = await seam(bed, { httpAgent: agent });

    expect(await callAll()).toEqual([200, 200, 200]);
    expect(agent.connections).toBe(3);
  });

  it('carries a header that is set on the defaults of axiosRef', async () => {
    const { service, axios, callAll } = await seam(bed);
    axios().defaults.headers.common['X-Trace'] = 'trace-1';

    expect(await callAll()).toEqual([200, 200, 200]);
    expect(service.requests.map(({ headers }) => headers['x-trace'])).toEqual(Array(3).fill('trace-1'));
  });
});
