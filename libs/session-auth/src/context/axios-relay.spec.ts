import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import axios, {
  type AxiosInstance,
  type AxiosRequestConfig,
  type AxiosRequestTransformer,
  type CreateAxiosDefaults,
} from 'axios';
import { Receiver } from '../../../../test/support/receiver.js';
import type { RelayedSession } from './session-context.js';
import { relayFrom } from './axios-relay.js';
import { targetOf } from './relay-origins.js';

const ANN: RelayedSession = { token: 'ann', authIv: 'iv', authority: 'default' };

let payroll: Receiver;
let foreign: Receiver;
let session: RelayedSession | undefined;
let client: AxiosInstance;

beforeEach(async () => {
  [payroll, foreign] = [await new Receiver().start(), await new Receiver().start()];
  session = ANN;
  client = attached();
});
afterEach(() => {
  payroll.close();
  foreign.close();
});

/** An axios instance whose requests carry the session to the first receiver. */
function attached(defaults: CreateAxiosDefaults = {}): AxiosInstance {
  const instance = axios.create({ proxy: false, validateStatus: null, ...defaults });
  relayFrom(instance, new Set([targetOf(payroll.origin, 'default')]), () => session);
  return instance;
}
const send = (config: AxiosRequestConfig, instance = client) => instance.request(config);

describe('a request to a target', () => {
  it('carries the session, and the data and headers of the application', async () => {
    await send({ url: payroll.origin, method: 'post', data: { of: 'ann' }, headers: { 'x-other': 'kept' } });
    expect(payroll.received).toMatchObject([
      { body: '{"of":"ann"}', headers: { 'x-auth-token': 'ann', 'x-auth-iv': 'iv', 'x-other': 'kept' } },
    ]);
  });

  it('carries the session of its own call, and none without one', async () => {
    for (const current of [ANN, { ...ANN, token: 'bob' }, undefined]) {
      session = current;
      await send({ url: payroll.origin });
    }
    expect(payroll.tokens).toEqual(['ann', 'bob', undefined]);
  });

  it('carries the session without an X-AUTH-IV of the request, which belongs to no token', async () => {
    session = { ...ANN, authIv: undefined };
    await send({ url: payroll.origin, headers: { 'x-auth-iv': 'of the request' } });
    expect([payroll.tokens, payroll.ivs]).toEqual([['ann'], [undefined]]);
  });

  it('carries no session of another authority', async () => {
    session = { ...ANN, authority: 'partners' };
    await send({ url: payroll.origin });
    expect(payroll.tokens).toEqual([undefined]);
  });

  it.each<[string, AxiosRequestTransformer | AxiosRequestTransformer[]]>([
    ['one', (data: string) => `${data}!`],
    ['several', [(data: string) => `${data}?`, (data: string) => `${data}!`]],
  ])('keeps its own transforms: %s', async (_count, transformRequest) => {
    await send({ url: payroll.origin, method: 'post', data: 'text', transformRequest });
    expect(payroll.received).toMatchObject([
      { body: expect.stringMatching(/^text.?!$/) as unknown, headers: { 'x-auth-token': 'ann' } },
    ]);
  });

  it('may have no transforms of its own', async () => {
    client.interceptors.request.use((config) => {
      delete config.transformRequest;
      return config;
    });
    await send({ url: payroll.origin, method: 'post', data: 'text' });
    expect(payroll.received).toMatchObject([{ body: 'text', headers: { 'x-auth-token': 'ann' } }]);
  });

  it('keeps a token of its own, and its X-AUTH-IV', async () => {
    await send({ url: payroll.origin, headers: { 'x-auth-token': 'own', 'x-auth-iv': 'own-iv' } });
    expect([payroll.tokens, payroll.ivs]).toEqual([['own'], ['own-iv']]);
  });
});

describe('a request to another origin', () => {
  it('carries no session, however its URL is built', async () => {
    await send({ url: foreign.origin });
    await send({ url: foreign.origin, baseURL: payroll.origin });
    await send({ url: 'path', baseURL: foreign.origin });
    await send({ baseURL: foreign.origin });
    expect(foreign.tokens).toEqual(Array(4).fill(undefined));
  });

  it('keeps a token of its own, and loses that of the session', async () => {
    await send({ url: foreign.origin, headers: { 'x-auth-token': 'own', 'x-auth-iv': 'own-iv' } });
    await send({ url: foreign.origin, headers: { 'x-auth-token': 'ann', 'x-auth-iv': 'iv' } });
    expect([foreign.tokens, foreign.ivs]).toEqual([
      ['own', undefined],
      ['own-iv', undefined],
    ]);
  });

  it('keeps an X-AUTH-IV of its own, also without a token', async () => {
    await send({ url: foreign.origin, headers: { 'x-auth-iv': 'own-iv' } });
    session = undefined;
    await send({ url: foreign.origin, headers: { 'x-auth-iv': 'own-iv' } });
    expect(foreign.ivs).toEqual(['own-iv', 'own-iv']);
  });
});

describe('the URL that decides', () => {
  /** Sends a request whose configuration an interceptor changes last. */
  async function sendChanged(
    defaults: CreateAxiosDefaults,
    config: AxiosRequestConfig,
    change: (config: AxiosRequestConfig) => void,
  ) {
    const instance = axios.create({ proxy: false, ...defaults });
    instance.interceptors.request.use((former) => {
      const final = { ...former };
      change(final);
      return final;
    });
    relayFrom(instance, new Set([targetOf(payroll.origin, 'default')]), () => session);
    await send(config, instance);
  }

  it('is that of baseURL and url, as axios builds it', async () => {
    await send({ url: '/slips', baseURL: payroll.origin });
    await send({ baseURL: payroll.origin });
    await send({ url: payroll.origin, baseURL: foreign.origin });
    await send({ url: foreign.origin, baseURL: payroll.origin, allowAbsoluteUrls: false });
    await send({ url: payroll.origin, allowAbsoluteUrls: false });
    expect([payroll.tokens, foreign.received]).toEqual([Array(5).fill('ann'), []]);
  });

  it('is that of the instance, where the request has none', async () => {
    await send({}, attached({ baseURL: payroll.origin }));
    await send({}, attached({ baseURL: foreign.origin }));
    expect([payroll.tokens, foreign.tokens]).toEqual([['ann'], [undefined]]);
  });

  it('is the final one, after all interceptors', async () => {
    await sendChanged({}, { url: payroll.origin }, (config) => (config.url = foreign.origin));
    await sendChanged(
      { baseURL: payroll.origin },
      { url: '/slips' },
      (config) => (config.baseURL = foreign.origin),
    );
    expect(foreign.tokens).toEqual([undefined, undefined]);
  });

  it('has nothing of the defaults of the instance that an interceptor has removed', async () => {
    const defaults = { baseURL: payroll.origin, allowAbsoluteUrls: false };
    await sendChanged(defaults, { url: foreign.origin }, (config) => delete config.baseURL);
    await sendChanged(defaults, { url: foreign.origin }, (config) => delete config.allowAbsoluteUrls);
    expect([foreign.tokens, payroll.received]).toEqual([[undefined, undefined], []]);
  });

  it('is none where axios cannot build it, and then axios rejects the request', async () => {
    await expect(send({ url: `http:${payroll.origin.slice('http://'.length)}` })).rejects.toThrow(
      'missing "//" after protocol',
    );
    expect(payroll.received).toEqual([]);
  });
});
