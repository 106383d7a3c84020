import { describe, expect, it } from '@jest/globals';
import type { AxiosInstance } from 'axios';
import { oneOf } from '../support/long-form.js';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';
import { seam, SHORT_MS } from './three-calls.js';

const never = (): Promise<never> => new Promise<never>(() => undefined);
const refuse = (): never => {
  throw new Error('the interceptor broke: application-key');
};
const reject = (): Promise<never> => Promise.reject(new Error('the interceptor broke'));
const NOTHING = undefined as unknown as Error;
const rejectWithNothing = (): Promise<never> => Promise.reject(NOTHING);
/** What the types of axios forbid, and JavaScript does not. */
const giving = (value: unknown) => (): never => value as never;

const BROKEN: [string, (axios: AxiosInstance) => void][] = [
  ['throws before the call', ({ interceptors }) => void interceptors.request.use(refuse)],
  ['rejects before the call', ({ interceptors }) => void interceptors.request.use(reject)],
  ['rejects with nothing before the call', ({ interceptors }) => void interceptors.request.use(rejectWithNothing)],
  ['never settles before the call', ({ interceptors }) => void interceptors.request.use(never)],
  ['gives no request', ({ interceptors }) => void interceptors.request.use(giving(undefined))],
  ['gives a url that is none', ({ interceptors }) => void interceptors.request.use((config) => Object.assign(config, { url: 'http://' }))],
  [
    'gives a header that has no valid name',
    ({ interceptors }) => void interceptors.request.use((config) => Object.assign(config, { headers: { 'X Trace': 'trace-1' } })),
  ],
  ['throws after the call', ({ interceptors }) => void interceptors.response.use(refuse)],
  ['rejects after the call', ({ interceptors }) => void interceptors.response.use(reject)],
  ['never settles after the call', ({ interceptors }) => void interceptors.response.use(never)],
];

/** Only a check and a sign-in read the body. */
const UNREADABLE: [string, (axios: AxiosInstance) => void, number[]][] = [
  ['gives no reply', ({ interceptors }) => void interceptors.response.use(giving(undefined)), [503, 503, 503]],
  ['gives null for a reply', ({ interceptors }) => void interceptors.response.use(giving(null)), [503, 503, 503]],
  ['gives the body for a reply', ({ interceptors }) => void interceptors.response.use(({ data }) => data as never), [503, 503, 503]],
  ['gives a reply without headers', ({ interceptors }) => void interceptors.response.use(giving({ status: 500 })), [503, 503, 503]],
  ['gives a body that is a number', ({ interceptors }) => void interceptors.response.use((to) => ({ ...to, data: 7 })), [503, 503, 200]],
  [
    'gives a body that has been read',
    ({ interceptors }) => void interceptors.response.use((to) => ({ ...to, data: { username: 'ann' } })),
    [503, 503, 200],
  ],
];

describe.each(oneOf(PLATFORMS))('an interceptor that breaks on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(BROKEN)('and %s makes all three calls 503, and says nothing of itself', async (_case, breakIt) => {
    const { app, axios, callAll } = await seam(bed, {}, undefined, SHORT_MS);
    breakIt(axios());

    expect(await callAll()).toEqual([503, 503, 503]);
    const reply = await app.get('/me', 'token');
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await reply.json()).toMatchObject({ statusCode: 503, message: expect.not.stringMatching(/interceptor/) as unknown });
  });

  it.each(UNREADABLE)('and %s makes the calls that read it 503', async (_case, breakIt, statuses) => {
    const { axios, callAll } = await seam(bed);
    breakIt(axios());

    expect(await callAll()).toEqual(statuses);
  });

  it('and gives the body as text is at worst 503', async () => {
    const { axios, callAll } = await seam(bed);
    axios().interceptors.response.use((to) => ({ ...to, data: String(to.data) }));

    for (const status of await callAll()) expect([200, 503]).toContain(status);
  });

  it.each([...BROKEN.slice(0, 1), ...UNREADABLE.map(([name, breakIt]) => [name, breakIt] as const)])(
    'and %s does no lasting harm: the token is let in when it is mended',
    async (_case, breakIt) => {
      const { app, axios } = await seam(bed);
      breakIt(axios());
      await app.get('/me', 'token');
      axios().interceptors.request.clear();
      axios().interceptors.response.clear();

      expect((await app.get('/me', 'token')).status).toBe(200);
    },
  );
});
