import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpModule } from '@nestjs/axios';
import type { Type } from '@nestjs/common';
import axios, { type AxiosInstance } from 'axios';
import type { PresentedSession } from 'nestjs-session-auth';
import { importFromGuide, type GuideCode } from '../support/guide-code.js';
import { PLATFORMS, startApp, type RunningApp } from '../support/platforms.js';
import { Receiver } from '../support/receiver.js';
import { sampleApp } from '../support/sample-app.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';

interface HandedOn {
  headersOf(session: PresentedSession): Record<string, string>;
  guardSessions(axios: AxiosInstance): void;
  fetchWith(session: PresentedSession, url: string): Promise<Response>;
}

const SESSION: PresentedSession = { token: 'token-of-ann', authIv: 'iv-of-ann' };
/** The environment of an application behind a proxy. */
const PROXIES = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];
const EXCEPTIONS = ['NO_PROXY', 'no_proxy'];

describe.each(PLATFORMS)('a session that the application of the guide hands on, on %s', (_name, platform) => {
  const before = new Map([...PROXIES, ...EXCEPTIONS].map((name) => [name, process.env[name]]));
  let service: ScriptedService;
  let payroll: Receiver;
  let other: Receiver;
  let slips: GuideCode<{ readonly SlipsController: Type }>;
  let handedOn: GuideCode<HandedOn>;
  let running: RunningApp;
  const client = axios.create();

  beforeAll(async () => {
    service = await startScriptedService();
    service.signInAs({}, 'token-of-ann');
    [payroll, other] = [await new Receiver().start(), await new Receiver().start()];
    process.env.PAYROLL_URL = payroll.origin;
    slips = await importFromGuide('user-in-services.md', 'src/slips.ts');
    handedOn = await importFromGuide('user-in-services.md', 'src/handed-on.ts');
    handedOn.module.guardSessions(client);
    const root = sampleApp({
      baseUrl: service.url,
      imports: [HttpModule.register({})],
      controllers: [slips.module.SlipsController],
    });
    running = await startApp(platform, root);
  });
  afterAll(async () => {
    delete process.env.PAYROLL_URL;
    await running.close();
    for (const each of [service, payroll, other]) await each.close();
    for (const each of [slips, handedOn]) await each.remove();
  });
  beforeEach(() => {
    for (const { received } of [payroll, other]) received.length = 0;
  });

  const calls: [name: string, call: (url: string) => Promise<unknown>][] = [
    ['axios', (url) => client.get(url, { headers: handedOn.module.headersOf(SESSION) })],
    ['fetch', (url) => handedOn.module.fetchWith(SESSION, url)],
  ];

  it('is the token and the IV that the caller presented, and nothing else', async () => {
    const headers = { 'x-auth-iv': 'iv', 'x-api-key': 'key of the caller' };
    expect(await (await running.get('/slips', 'token-of-ann', headers)).text()).toBe('done');
    expect(await (await running.get('/slips', 'token-of-ann')).text()).toBe('done');
    expect(payroll.tokens).toEqual(['token-of-ann', 'token-of-ann']);
    expect(payroll.ivs).toEqual(['iv', undefined]);
    expect(payroll.received.map(({ headers: sent }) => sent['x-api-key'])).toEqual([undefined, undefined]);
  });

  it.each(calls)('goes to no other origin, with %s', async (_client, call) => {
    const { host, port } = new URL(payroll.origin);
    const elsewhere = new URL(other.origin).host;
    const urls = [
      `${other.origin}/slips`,
      `http://${host}@${elsewhere}/slips`,
      `http://localhost:${port}/slips`,
      `https://${host}/slips`,
      `http:\\\\${elsewhere}\\slips`,
      `//${elsewhere}/slips`,
    ];
    for (const url of urls)
      await expect(call(url)).rejects.toThrow(/^No session is handed on to|Invalid URL/);
    expect([payroll.received, other.received]).toEqual([[], []]);
  });

  it.each(calls)('follows no redirect, elsewhere or within its origin, with %s', async (_client, call) => {
    for (const target of [`${other.origin}/slips`, `${payroll.origin}/slips`])
      await expect(call(`${payroll.origin}/to?${encodeURIComponent(target)}`)).rejects.toThrow();
    expect([payroll.tokens, other.received]).toEqual([['token-of-ann', 'token-of-ann'], []]);
  });

  it.each(calls)('passes no proxy of the environment, with %s [P72]', async (_client, call) => {
    for (const name of PROXIES) process.env[name] = other.origin;
    for (const name of EXCEPTIONS) process.env[name] = '';
    try {
      await call(payroll.origin);
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
      }
    }
    expect([payroll.tokens, other.received]).toEqual([['token-of-ann'], []]);
  });
});
