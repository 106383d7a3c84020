import { describe, expect, it } from '@jest/globals';
import type { InternalAxiosRequestConfig, AxiosInstance } from 'axios';
import { platforms } from '../support/platforms.js';
import { reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { seam, SHORT_MS } from './three-calls.js';

const IN_ORDER = ['GET', 'POST', 'DELETE'];

describe.each(platforms('Express'))('an interceptor on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each([
    ['before the first call', 0],
    ['after calls were made', 2],
  ])('that is added %s runs for all three calls, and may add a header', async (_when, rounds) => {
    const { service, axios, callAll } = await seam(bed);
    for (let round = 0; round < rounds; round += 1) expect(await callAll()).toEqual([200, 200, 200]);
    service.requests.length = 0;
    axios().interceptors.request.use((config) => {
      config.headers.set('X-Trace', 'trace-1');
      return config;
    });

    expect(await callAll()).toEqual([200, 200, 200]);
    expect(service.requests.map(({ method, headers }) => [method, headers['x-trace']])).toEqual(
      IN_ORDER.map((method) => [method, 'trace-1']),
    );
  });

  it('receives an ordinary request: its url, method, headers and data', async () => {
    const { service, axios, callAll } = await seam(bed);
    const seen: InternalAxiosRequestConfig[] = [];
    axios().interceptors.request.use((config) => (seen.push(config), config));
    await callAll();
    const [check, signIn, signOut] = seen;

    expect(seen.map(({ method }) => method?.toUpperCase())).toEqual(IN_ORDER);
    expect(seen.map(({ url }) => url)).toEqual(
      ['/authentication/user_details', '/authentication', '/authentication'].map(
        (path) => `${service.url}${path}`,
      ),
    );
    for (const { headers } of seen)
      expect([headers.get('X-API-KEY'), headers.get('x-auth-iv')]).toEqual(['application-key', 'iv-1']);
    expect([check?.headers.get('X-AUTH-TOKEN'), signOut?.headers.get('X-AUTH-TOKEN')]).toEqual([
      'token',
      'token',
    ]);
    expect(JSON.parse(signIn?.data as string)).toEqual({ username: 'ann', password: 'x' });
    expect([check?.data, signOut?.data]).toEqual([undefined, undefined]);
  });

  it('may change the url, replace a header and remove one', async () => {
    const { service, axios, callAll } = await seam(bed);
    axios().interceptors.request.use((config) => {
      config.url = `${config.url ?? ''}?tenant=7`;
      config.headers.set('X-API-KEY', 'rotated-key');
      config.headers.delete('X-AUTH-IV');
      return config;
    });

    expect(await callAll()).toEqual([200, 200, 200]);
    for (const { path, headers } of service.requests) {
      expect([path.split('?')[1], headers['x-api-key'], headers['x-auth-iv']]).toEqual([
        'tenant=7',
        'rotated-key',
        undefined,
      ]);
    }
  });

  it('may be asynchronous', async () => {
    const { axios, callAll } = await seam(bed);
    axios().interceptors.request.use(async (config) => {
      await new Promise(setImmediate);
      return config;
    });

    expect(await callAll()).toEqual([200, 200, 200]);
  });

  it('runs once a call, in the order of axios, and not after it is ejected', async () => {
    const { axios, callAll } = await seam(bed);
    const ran: string[] = [];
    const { request } = axios().interceptors;
    const first = request.use((config) => (ran.push('first'), config));
    request.use((config) => (ran.push('second'), config));
    await callAll();
    expect(ran).toEqual(Array(3).fill(['second', 'first']).flat());

    request.eject(first);
    await callAll();
    expect(ran.slice(6)).toEqual(Array(3).fill('second'));
  });

  it('receives every reply, refusals too', async () => {
    const { service, axios, callAll } = await seam(bed);
    const seen: number[] = [];
    axios().interceptors.response.use((response) => (seen.push(response.status), response));
    await callAll();
    for (const operation of ['user_details', 'sign_in', 'sign_out'] as const)
      service.on(operation, reply(403));

    expect(await callAll()).toEqual([403, 403, 403]);
    expect(seen).toEqual([200, 200, 200, 403, 403, 403]);
  });

  it('does not run in another module or application', async () => {
    const [first, second] = [await seam(bed), await seam(bed)];
    first.axios().interceptors.request.use((config) => {
      config.headers.set('X-Trace', 'trace-1');
      return config;
    });

    expect(await second.callAll()).toEqual([200, 200, 200]);
    expect(second.service.requests.map(({ headers }) => headers['x-trace'])).toEqual(
      Array(3).fill(undefined),
    );
  });
});

const never = (): Promise<never> => new Promise<never>(() => undefined);
const refuse = (): never => {
  throw new Error('the interceptor broke: application-key');
};
const reject = (): Promise<never> => Promise.reject(new Error('the interceptor broke'));
const NOTHING = undefined as unknown as Error;
const rejectWithNothing = (): Promise<never> => Promise.reject(NOTHING);
/** Values that the types of axios forbid, and JavaScript permits. */
const giving = (value: unknown) => (): never => value as never;

const BROKEN: [string, (axios: AxiosInstance) => void][] = [
  ['throws before the call', ({ interceptors }) => void interceptors.request.use(refuse)],
  ['rejects before the call', ({ interceptors }) => void interceptors.request.use(reject)],
  [
    'rejects with nothing before the call',
    ({ interceptors }) => void interceptors.request.use(rejectWithNothing),
  ],
  ['never settles before the call', ({ interceptors }) => void interceptors.request.use(never)],
  ['gives no request', ({ interceptors }) => void interceptors.request.use(giving(undefined))],
  [
    'gives a url that is none',
    ({ interceptors }) =>
      void interceptors.request.use((config) => Object.assign(config, { url: 'http://' })),
  ],
  [
    'gives a header that has no valid name',
    ({ interceptors }) =>
      void interceptors.request.use((config) => Object.assign(config, { headers: { 'X Trace': 'trace-1' } })),
  ],
  ['throws after the call', ({ interceptors }) => void interceptors.response.use(refuse)],
  ['rejects after the call', ({ interceptors }) => void interceptors.response.use(reject)],
  ['never settles after the call', ({ interceptors }) => void interceptors.response.use(never)],
];

/** Only a check and a sign-in read the body. */
const UNREADABLE: [string, (axios: AxiosInstance) => void, number[]][] = [
  [
    'gives no reply',
    ({ interceptors }) => void interceptors.response.use(giving(undefined)),
    [503, 503, 503],
  ],
  [
    'gives null for a reply',
    ({ interceptors }) => void interceptors.response.use(giving(null)),
    [503, 503, 503],
  ],
  [
    'gives the body for a reply',
    ({ interceptors }) => void interceptors.response.use(({ data }) => data as never),
    [503, 503, 503],
  ],
  [
    'gives a reply without headers',
    ({ interceptors }) => void interceptors.response.use(giving({ status: 500 })),
    [503, 503, 503],
  ],
  [
    'gives a body that is a number',
    ({ interceptors }) => void interceptors.response.use((to) => ({ ...to, data: 7 })),
    [503, 503, 200],
  ],
  [
    'gives a body that has been read',
    ({ interceptors }) => void interceptors.response.use((to) => ({ ...to, data: { username: 'ann' } })),
    [503, 503, 200],
  ],
];

describe.each(platforms('Express'))('an interceptor that breaks on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(BROKEN)(
    'and %s makes all three calls 503, and does not appear in the denial',
    async (_case, breakIt) => {
      const { app, axios, callAll } = await seam(bed, {}, undefined, SHORT_MS);
      breakIt(axios());

      expect(await callAll()).toEqual([503, 503, 503]);
      const reply = await app.get('/me', 'token');
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await reply.json()).toMatchObject({
        statusCode: 503,
        message: expect.not.stringMatching(/interceptor/) as unknown,
      });
    },
  );

  it.each(UNREADABLE)(
    'and %s makes the calls that read it 503, and does no lasting harm',
    async (_case, breakIt, statuses) => {
      const { app, axios, callAll } = await seam(bed);
      breakIt(axios());

      expect(await callAll()).toEqual(statuses);
      axios().interceptors.response.clear();
      expect((await app.get('/me', 'token')).status).toBe(200);
    },
  );

  it('and gives the body as text is at worst 503', async () => {
    const { axios, callAll } = await seam(bed);
    axios().interceptors.response.use((to) => ({ ...to, data: String(to.data) }));

    for (const status of await callAll()) expect([200, 503]).toContain(status);
  });
});
