import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Metadata } from '@grpc/grpc-js';
import axios, { type AxiosInstance, type AxiosRequestConfig } from 'axios';
import { Controller, Get, Injectable, UseGuards } from '@nestjs/common';
import { Public, SessionAuthGuard } from 'nestjs-session-auth';
import { SessionContext, sessionContext, SessionRelay, type RelayTargets } from 'nestjs-session-auth/context';
import { Receiver } from './receiver.js';
import { PLATFORMS, startApp, type RunningApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';

/** The work of a handler in the call of a test. */
@Injectable()
class Work {
  run: () => unknown = () => undefined;
}

@Controller()
@UseGuards(SessionAuthGuard)
class WorkController {
  constructor(private readonly work: Work) {}

  @Get('work')
  async guarded(): Promise<string> {
    await this.work.run();
    return 'done';
  }

  @Get('open')
  @Public()
  async open(): Promise<string> {
    await this.work.run();
    return 'done';
  }
}

describe.each(PLATFORMS)('the relayed session on %s', (_name, platform) => {
  let service: ScriptedService;
  let running: RunningApp;
  let relay: SessionRelay;
  let payroll: Receiver;
  let foreign: Receiver;
  let client: AxiosInstance;

  beforeAll(async () => {
    service = await startScriptedService();
    [payroll, foreign] = [await new Receiver().start(), await new Receiver().start()];
    service.signInAs({}, 'good');
    const sample = {
      baseUrl: service.url,
      options: { plugins: [sessionContext] },
      controllers: [WorkController],
      providers: [Work],
    };
    running = await startApp(platform, sampleApp(sample));
    relay = running.app.get(SessionRelay);
  });
  afterAll(async () => {
    await running.close();
    for (const each of [service, payroll, foreign]) await each.close();
  });
  beforeEach(() => {
    for (const { received } of [payroll, foreign]) received.length = 0;
    client = axios.create({ proxy: false, validateStatus: null });
    relay.attachTo(client, { to: [payroll.origin] });
  });

  /** Works in a call of a user. Rejects if the work does. */
  async function inCall<Result>(
    work: () => Result | Promise<Result>,
    path = '/work',
    headers: Record<string, string> = {},
  ): Promise<Result> {
    let result: Promise<Result> | undefined;
    running.app.get(Work).run = () => {
      result = (async () => work())();
      return result.then(
        () => undefined,
        () => undefined,
      );
    };
    const reply = await running.get(path, 'good', headers);
    expect([reply.status, await reply.text()]).toEqual([200, 'done']);
    return (await result) as Result;
  }
  const send = (config: AxiosRequestConfig): Promise<unknown> =>
    inCall(() => client.request(config).catch((error: unknown) => error));

  it('is the token and the X-AUTH-IV that the caller presented, and nothing else', async () => {
    await inCall(() => client.get(`${payroll.origin}/slips`), '/work', {
      'x-auth-iv': 'iv-1',
      'x-api-key': 'key of the caller',
    });
    await send({ url: `${payroll.origin}/slips` });
    expect(
      payroll.received.map(({ headers }) => [
        headers['x-auth-token'],
        headers['x-auth-iv'],
        headers['x-api-key'],
      ]),
    ).toEqual([
      ['good', 'iv-1', undefined],
      ['good', undefined, undefined],
    ]);
  });

  it('is sent with every method and body', async () => {
    for (const method of ['get', 'post', 'put', 'patch', 'delete'])
      await send({ method, url: payroll.origin, data: { some: 'data' } });
    expect(payroll.tokens).toEqual(Array(5).fill('good'));
  });

  it('is absent in a public handler, and outside of a call', async () => {
    await inCall(() => client.get(payroll.origin), '/open');
    await client.get(payroll.origin);
    expect(payroll.tokens).toEqual([undefined, undefined]);
    expect([relay.headersFor(payroll.origin), relay.metadata()]).toEqual([{}, {}]);
  });

  it('is sent to no other origin', async () => {
    await send({ url: foreign.origin });
    await send({ url: foreign.origin, baseURL: payroll.origin });
    await send({ url: '/path', baseURL: foreign.origin });
    expect(foreign.tokens).toEqual([undefined, undefined, undefined]);
  });

  it('follows the URL that axios builds of baseURL and url', async () => {
    await send({ url: '/slips', baseURL: payroll.origin });
    await send({ url: 'slips', baseURL: `${payroll.origin}/` });
    await send({ url: `@${foreign.origin.slice(7)}`, baseURL: payroll.origin });
    await send({ url: `\\\\${foreign.origin.slice(7)}`, baseURL: payroll.origin });
    await send({ url: foreign.origin, baseURL: payroll.origin, allowAbsoluteUrls: false });
    await send({ baseURL: payroll.origin });
    expect(payroll.tokens).toEqual(Array(6).fill('good'));
    expect(foreign.received).toEqual([]);
  });

  it.each([
    ['a user that looks like the target', (host: string) => `http://payroll.internal@${host}/`],
    ['a user', (host: string) => `http://good:pass@${host}/`],
    ['a protocol-relative URL', (host: string) => `//${host}/`],
    ['backslashes', (host: string) => `http:\\\\${host}\\`],
    ['a scheme in capitals', (host: string) => `HTTP://${host}/`],
    ['a target in the query', (host: string) => `http://${host}/?https://payroll.internal`],
    ['a target in the fragment', (host: string) => `http://${host}/#@${host}`],
    ['a decimal address', (host: string) => `http://2130706433:${host.split(':')[1] ?? ''}/`],
  ])('reaches no other origin through a URL with %s', async (_trick, urlOf) => {
    for (const baseURL of [payroll.origin, undefined]) {
      await send({ url: urlOf(new URL(foreign.origin).host), ...(baseURL !== undefined && { baseURL }) });
    }
    expect(foreign.tokens.filter((token) => token !== undefined)).toEqual([]);
  });

  it('is compared with the final URL of the request, after all interceptors', async () => {
    const other = axios.create({
      proxy: false,
      validateStatus: null,
      baseURL: payroll.origin,
      allowAbsoluteUrls: false,
    });
    other.interceptors.request.use((config) => {
      delete config.baseURL;
      return { ...config, url: `${foreign.origin}/${config.url ?? ''}` };
    });
    relay.attachTo(other, { to: [payroll.origin] });
    other.interceptors.request.use((config) => ({ ...config, url: 'changed' }));
    await inCall(() => other.get('first'));
    expect(foreign.received.map(({ url, headers }) => [url, headers['x-auth-token']])).toEqual([
      ['/changed', undefined],
    ]);
  });

  it('is removed on each redirect: elsewhere, back again, and within its origin', async () => {
    const back = `${foreign.origin}/to?${encodeURIComponent(`${payroll.origin}/end`)}`;
    await send({ url: `${payroll.origin}/to?${encodeURIComponent(back)}`, headers: { 'x-other': 'kept' } });
    await send({ url: `${payroll.origin}/to?/within` });
    expect(foreign.tokens).toEqual([undefined]);
    expect(foreign.received[0]?.headers['x-other']).toBe('kept');
    expect(payroll.tokens).toEqual(['good', undefined, 'good', undefined]);
  });

  it('is removed on redirects after the hook of the application; the fetch adapter follows none', async () => {
    const hooked: unknown[] = [];
    const beforeRedirect: NonNullable<AxiosRequestConfig['beforeRedirect']> = (options) => {
      const headers = options.headers as Record<string, string>;
      hooked.push(Object.keys(headers).some((header) => header.toLowerCase() === 'x-auth-token'));
      headers['X-Auth-Token'] = 'good';
    };
    const url = `${payroll.origin}/to?${encodeURIComponent(foreign.origin)}`;
    await send({ url, beforeRedirect });
    expect([hooked, foreign.tokens]).toEqual([[true], [undefined]]);

    await send({ url, adapter: 'fetch' });
    expect([payroll.tokens, foreign.tokens]).toEqual([['good', 'good'], [undefined]]);
  });

  it('does not replace the own token of a request, and is removed from a request to another origin', async () => {
    await send({ url: payroll.origin, headers: { 'x-auth-token': 'own' } });
    await send({ url: foreign.origin, headers: { 'x-auth-token': 'own' } });
    await send({ url: foreign.origin, headers: { 'x-auth-token': 'good', 'X-AUTH-IV': 'iv-1' } });
    expect([payroll.tokens, foreign.tokens]).toEqual([['own'], ['own', undefined]]);
    expect(foreign.received[1]?.headers['x-auth-iv']).toBeUndefined();
  });

  it('is not kept in the configuration of a request that is sent again', async () => {
    const { config } = (await send({ url: payroll.origin })) as { config: AxiosRequestConfig };
    await client.request(config);
    await client.request({ ...config, url: foreign.origin });
    await send(config);
    await send({ ...config, url: foreign.origin });
    expect([payroll.tokens, foreign.tokens]).toEqual([
      ['good', undefined, 'good'],
      [undefined, undefined],
    ]);
  });

  it('is sent to all origins of one instance, and another instance has its own', async () => {
    relay.attachTo(client, { to: [foreign.origin] });
    for (const url of [payroll.origin, foreign.origin]) await send({ url });
    expect([payroll.tokens, foreign.tokens]).toEqual([['good'], ['good']]);
    const other = axios.create({ proxy: false });
    relay.attachTo(other, { to: [payroll.origin] });
    await inCall(() => other.get(foreign.origin));
    expect(foreign.tokens).toEqual(['good', undefined]);
  });

  it('is available to fetch and undici as the headers for a URL', async () => {
    const targets = { to: ['https://payroll.internal', payroll.origin] };
    await inCall(
      () => fetch(payroll.origin, { headers: relay.headersFor(payroll.origin, targets), redirect: 'manual' }),
      '/work',
      {
        'x-auth-iv': 'iv-1',
      },
    );
    expect(payroll.tokens).toEqual(['good']);
    expect(payroll.received[0]?.headers['x-auth-iv']).toBe('iv-1');
    expect(await inCall(() => relay.headersFor(`${payroll.origin}/slips`))).toEqual({
      'X-AUTH-TOKEN': 'good',
    });
  });

  it.each([
    ['https://payroll.internal', true],
    ['https://payroll.internal/slips?of=ann#last', true],
    ['HTTPS://PAYROLL.INTERNAL', true],
    ['https://payroll.internal:443/', true],
    ['https:\\\\payroll.internal\\@evil.com', true],
    ['https://ann:secret@payroll.internal/', true],
    ['https://b\u00fccher.example/', true],
    ['https://xn--bcher-kva.example/', true],
    ['https://payroll.internal.evil.com', false],
    ['https://evil-payroll.internal', false],
    ['https://sub.payroll.internal', false],
    ['https://payroll.internal:8443', false],
    ['https://payroll.internal:80', false],
    ['http://payroll.internal', false],
    ['https://payroll.internal@evil.com', false],
    ['https://payroll.internal:443@evil.com', false],
    ['https://evil.com\\@payroll.internal', false],
    ['https://evil.com#@payroll.internal', false],
    ['https://evil.com?@payroll.internal', false],
    ['https://payroll.internal.', false],
    ['https://p\u0430yroll.internal', false],
    ['https://payroll\u3002internal.evil.com', false],
    ['//payroll.internal', false],
    ['/slips', false],
    ['payroll.internal', false],
    ['', false],
    ['blob:https://payroll.internal/id', false],
    ['javascript://payroll.internal/%0aalert(1)', false],
    ['ws://payroll.internal', false],
    ['wss://payroll.internal', false],
    ['file://payroll.internal/etc', false],
  ])('is in the headers for %j: %p', async (url, isSent) => {
    const targets = { to: ['https://payroll.internal', 'https://b\u00fccher.example'] };
    expect(await inCall(() => relay.headersFor(url, targets))).toEqual(
      isSent ? { 'X-AUTH-TOKEN': 'good' } : {},
    );
  });

  it('is available to gRPC and messages under lower-case names', async () => {
    const metadata = await inCall(() => relay.metadata(), '/work', { 'x-auth-iv': 'iv-1' });
    expect(metadata).toEqual({ 'x-auth-token': 'good', 'x-auth-iv': 'iv-1' });
    expect(Metadata.fromHttp2Headers(metadata).getMap()).toEqual(metadata);
  });
});

describe('the targets of a relay', () => {
  const relay = new SessionRelay(new SessionContext(() => undefined));
  const attach = (targets: unknown) => () => relay.attachTo(axios.create(), targets as RelayTargets);

  it.each([
    ['https://payroll.internal/api', 'to[0], "https://payroll.internal/api", is not an origin'],
    ['https://payroll.internal?', 'to[0], "https://payroll.internal?", is not an origin'],
    ['https://payroll.internal#', 'to[0], "https://payroll.internal#", is not an origin'],
    ['https://*.internal', 'to[0], "https://*.internal", has a wildcard. Name each origin.'],
    ['*', 'to[0], "*", has a wildcard'],
    ['payroll.internal', 'to[0], "payroll.internal", is not an origin'],
    ['//payroll.internal', 'to[0], "//payroll.internal", is not an origin'],
    ['https:payroll.internal', 'is not an origin'],
    ['https://payroll.internal\\evil', 'is not an origin'],
    [' https://payroll.internal', 'is not an origin'],
    ['https://pay roll', 'is not an origin'],
    ['https://payroll.internal:99999', 'is not an origin'],
    ['ftp://payroll.internal', 'is not an origin'],
    ['', 'is not an origin'],
    [7, 'to[0] must be a string or a URL'],
    [/payroll/, 'to[0] must be a string or a URL'],
    ['http://payroll.internal', 'would carry sessions unencrypted. Use https, or set allowPlainHttp: true'],
  ])('must not have %p', (target, message) => {
    expect(attach({ to: [target] })).toThrow(`SessionRelay.attachTo(): `);
    expect(attach({ to: [target] })).toThrow(message);
    expect(() => relay.headersFor('https://payroll.internal', { to: [target as string] })).toThrow(message);
  });

  it('are named by their index if they may contain a password', () => {
    const targets = { to: ['https://payroll.internal', 'https://ann:secret@payroll.internal'] };
    expect(attach(targets)).toThrow('SessionRelay.attachTo(): to[1] must not hold a user or a password.');
    expect(attach(targets)).not.toThrow('secret');
  });

  it.each([[undefined], [{}], [{ to: [] }], [{ to: 'https://payroll.internal' }], [{ to: null }]])(
    'must be a list: %j',
    (targets) => {
      expect(attach(targets)).toThrow('SessionRelay.attachTo(): to must be a list of at least one origin.');
    },
  );

  it.each([
    ['https://payroll.internal'],
    ['https://payroll.internal/'],
    ['HTTPS://Payroll.Internal:8443'],
    [new URL('https://payroll.internal')],
    ['http://localhost:3000'],
    ['http://127.0.0.1:3000'],
    ['http://[::1]:3000'],
  ])('may have %p', (target) => {
    expect(attach({ to: [target] })).not.toThrow();
  });

  it('may be without encryption if an option permits it', () => {
    expect(attach({ to: ['http://payroll.default.svc'], allowPlainHttp: true })).not.toThrow();
  });

  it('are required before headersFor() is called without targets', () => {
    expect(() =>
      new SessionRelay(new SessionContext(() => undefined)).headersFor('https://payroll.internal'),
    ).toThrow(
      "SessionRelay.headersFor(): no origins are known. Name them, as in headersFor(url, { to: ['https://payroll.internal'] }).",
    );
  });

  it('require an axios instance', () => {
    expect(() => relay.attachTo({} as AxiosInstance, { to: ['https://payroll.internal'] })).toThrow(
      'SessionRelay.attachTo(): the first argument must be an axios instance',
    );
  });
});
