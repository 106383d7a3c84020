import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import axios, { type AxiosInstance, type AxiosRequestConfig } from 'axios';
import { Receiver } from '../../../../test/support/receiver.js';
import type { RelayedSession } from './session-context.js';
import { relayFrom } from './axios-relay.js';
import { targetOf } from './relay-origins.js';

type BeforeRedirect = NonNullable<AxiosRequestConfig['beforeRedirect']>;

const ANN: RelayedSession = { token: 'ann', authIv: 'iv', authority: 'default' };

let payroll: Receiver;
let foreign: Receiver;
let session: RelayedSession | undefined;
let client: AxiosInstance;

const tokens = (): unknown[][] => [payroll, foreign].map((each) => each.tokens);
const ivs = (): unknown[][] => [payroll, foreign].map((each) => each.ivs);
const send = (config: AxiosRequestConfig) => client.request(config);

beforeEach(async () => {
  [payroll, foreign] = [await new Receiver().start(), await new Receiver().start()];
  session = ANN;
  client = axios.create({ proxy: false, validateStatus: null });
  relayFrom(client, new Set([targetOf(payroll.origin, 'default')]), () => session);
});
afterEach(() => {
  for (const each of [payroll, foreign]) each.close();
});

describe('a redirect', () => {
  const redirectTo = (url: string): string => `${payroll.origin}/to?${encodeURIComponent(url)}`;

  it.each(['/end', undefined])('carries no session, and the other headers: to %p', async (path) => {
    await send({ url: redirectTo(path ?? foreign.origin), headers: { 'x-other': 'kept' } });
    const [first, second] = [...payroll.received, ...foreign.received].map(({ headers }) => headers);
    expect(first).toMatchObject({ 'x-auth-token': 'ann', 'x-auth-iv': 'iv', 'x-other': 'kept' });
    expect(second).toMatchObject({ 'x-other': 'kept' });
    expect([second?.['x-auth-token'], second?.['x-auth-iv']]).toEqual([undefined, undefined]);
  });

  it('carries no session if the application has set the same token itself', async () => {
    await send({ url: redirectTo(foreign.origin), headers: { 'x-auth-token': 'ann' } });
    expect(tokens()).toEqual([['ann'], [undefined]]);
  });

  it('carries no session after the hook of the application, which gets all arguments', async () => {
    const seen: unknown[][] = [];
    const beforeRedirect: BeforeRedirect = (...values: unknown[]) => {
      const { headers } = values[0] as { headers: Record<string, string> };
      seen.push([{ ...headers }, ...values.slice(1)]);
      headers['X-Auth-Token'] = 'ann';
    };
    await send({ url: redirectTo(foreign.origin), beforeRedirect });
    expect(seen).toEqual([
      [
        expect.objectContaining({ 'X-AUTH-TOKEN': 'ann' }),
        expect.objectContaining({ statusCode: 302 }),
        expect.objectContaining({ url: expect.anything() as unknown }),
      ],
    ]);
    expect(tokens()).toEqual([['ann'], [undefined]]);
  });

  it('is not followed by fetch, whose other options are kept', async () => {
    const fetchOptions = { cache: 'no-store', redirect: 'follow' };
    const { config } = await send({ url: redirectTo(foreign.origin), adapter: 'fetch', fetchOptions });
    expect(config.fetchOptions).toEqual({ cache: 'no-store', redirect: 'manual' });
    expect(tokens()).toEqual([['ann'], []]);
  });

  it('of a request without the session stays as the application has set it', async () => {
    const { config } = await send({ url: foreign.origin });
    expect([config.beforeRedirect, config.fetchOptions]).toEqual([undefined, undefined]);
    await send({ url: redirectTo(foreign.origin), headers: { 'x-auth-token': 'own' } });
    expect(tokens()).toEqual([['own'], [undefined, 'own']]);
  });
});

describe('a request that is sent again', () => {
  it('carries the session of its own call, and not that of the first attempt', async () => {
    const { config } = await send({ url: payroll.origin });
    for (const next of [undefined, { ...ANN, token: 'bob', authIv: undefined }, undefined]) {
      session = next;
      await send(config);
    }
    expect(tokens()[0]).toEqual(['ann', undefined, 'bob', undefined]);
    expect(ivs()[0]).toEqual(['iv', undefined, undefined, undefined]);
  });

  it('carries no session to another origin, with or without a call', async () => {
    const { config } = await send({ url: payroll.origin });
    for (const next of [ANN, undefined]) {
      session = next;
      await send({ ...config, url: foreign.origin });
    }
    expect([tokens()[1], ivs()[1]]).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  it('keeps a token that the application has set in between', async () => {
    const { config } = await send({ url: payroll.origin });
    session = undefined;
    config.headers.set({ 'X-AUTH-TOKEN': 'own', 'X-AUTH-IV': 'own-iv' });
    await send(config);
    expect([tokens()[0], ivs()[0]]).toEqual([
      ['ann', 'own'],
      ['iv', 'own-iv'],
    ]);
  });

  it('keeps an X-AUTH-IV that the application has set in between', async () => {
    session = undefined;
    const { config } = await send({ url: payroll.origin });
    config.headers.set('X-AUTH-IV', 'own-iv');
    await send(config);
    expect(ivs()[0]).toEqual([undefined, 'own-iv']);
  });

  it('calls the redirect hook of the application once, however often it was sent', async () => {
    let calls = 0;
    let { config } = await send({ url: payroll.origin, beforeRedirect: () => void (calls += 1) });
    const { beforeRedirect } = config;
    for (let time = 0; time < 3; time += 1) ({ config } = await send(config));
    expect(config.beforeRedirect).toBe(beforeRedirect);
    await send({ ...config, url: `${payroll.origin}/to?${encodeURIComponent(foreign.origin)}` });
    expect([calls, tokens()[1]]).toEqual([1, [undefined]]);
  });

  it('has the transforms of the application once', async () => {
    const { config } = await send({ url: payroll.origin, transformRequest: (data: unknown) => data });
    const again = await send(config);
    expect(again.config.transformRequest).toHaveLength(2);
  });
});
