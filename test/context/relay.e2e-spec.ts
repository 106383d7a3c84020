import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Metadata } from '@grpc/grpc-js';
import axios, { type AxiosInstance, type AxiosRequestConfig } from 'axios';
import { Controller, Get, Injectable, UseGuards } from '@nestjs/common';
import { Public, SessionAuthGuard } from 'nestjs-session-auth';
import { sessionContext, SessionRelay } from 'nestjs-session-auth/context';
import { Receiver } from '../support/receiver.js';
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

  it('is removed on each redirect: elsewhere, back again, and within its origin', async () => {
    const back = `${foreign.origin}/to?${encodeURIComponent(`${payroll.origin}/end`)}`;
    await send({ url: `${payroll.origin}/to?${encodeURIComponent(back)}`, headers: { 'x-other': 'kept' } });
    await send({ url: `${payroll.origin}/to?/within` });
    expect(foreign.tokens).toEqual([undefined]);
    expect(foreign.received[0]?.headers['x-other']).toBe('kept');
    expect(payroll.tokens).toEqual(['good', undefined, 'good', undefined]);
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
