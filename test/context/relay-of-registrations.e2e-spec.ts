import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import axios from 'axios';
import { Controller, Get, Inject, Injectable, UseGuards } from '@nestjs/common';
import { fromHeader, SessionAuthModule, SessionAuthority, SessionAuthGuard } from 'nestjs-session-auth';
import { sessionContext, SessionRelay } from 'nestjs-session-auth/context';
import { PLATFORMS, startApp, type RunningApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { Receiver } from '../support/receiver.js';

/** Calls another service with the session of each call. */
@Injectable()
class Payroll {
  readonly http = axios.create({ proxy: false });
  readonly found: unknown[] = [];
  url = '';

  constructor(readonly relay: SessionRelay) {}

  async call(): Promise<string> {
    await this.http.get(this.url);
    const { relay, url } = this;
    const authority = 'partners';
    const targets = [
      relay.headersFor(url),
      relay.headersFor(url, { to: [url], authority }),
      relay.metadata(),
      relay.metadata(authority),
    ];
    this.found.push(targets.map((headers) => Object.values(headers)));
    return 'done';
  }
}

@Controller()
@UseGuards(SessionAuthGuard)
class CallsController {
  constructor(@Inject(Payroll) private readonly payroll: Payroll) {}

  @Get('own')
  own(): Promise<string> {
    return this.payroll.call();
  }

  @Get('partner')
  @SessionAuthority('partners')
  partner(): Promise<string> {
    return this.payroll.call();
  }
}

describe.each(PLATFORMS)('the relayed session of one of several services on %s', (_name, platform) => {
  let own: ScriptedService;
  let partners: ScriptedService;
  let receiver: Receiver;
  let running: RunningApp;

  beforeAll(async () => {
    [own, partners, receiver] = [
      await startScriptedService(),
      await startScriptedService(),
      await new Receiver().start(),
    ];
    own.signInAs({}, 'own-token');
    partners.signInAs({}, 'partner-token');
    const token = fromHeader('x-partner-token');
    const named = SessionAuthModule.forRoot({
      name: 'partners',
      baseUrl: partners.url,
      apiKey: 'partner-key',
      token,
    });
    const sample = {
      baseUrl: own.url,
      options: { plugins: [sessionContext] },
      controllers: [CallsController],
      providers: [Payroll],
      imports: [named],
    };
    running = await startApp(platform, sampleApp(sample));
  });
  afterAll(async () => {
    await running.close();
    for (const each of [own, partners, receiver]) await each.close();
  });
  beforeEach(() => {
    receiver.received.length = 0;
  });

  async function callBoth(): Promise<unknown[]> {
    const payroll = running.app.get(Payroll);
    payroll.url = receiver.origin;
    payroll.found.length = 0;
    const headers = { 'x-partner-token': 'partner-token' };
    for (const path of ['/own', '/partner'])
      expect((await running.get(path, 'own-token', headers)).status).toBe(200);
    return payroll.found;
  }

  it('is sent to the targets of its authority only: the default one unless the targets name another', async () => {
    const { relay, http } = running.app.get(Payroll);
    relay.attachTo(http, { to: [receiver.origin] });
    expect(await callBoth()).toEqual([
      [['own-token'], [], ['own-token'], []],
      [[], ['partner-token'], [], ['partner-token']],
    ]);
    expect(receiver.tokens).toEqual(['own-token', undefined]);

    relay.attachTo(http, { to: [receiver.origin], authority: 'partners' });
    await callBoth();
    expect(receiver.tokens).toEqual(['own-token', undefined, 'own-token', 'partner-token']);
  });

  it.each(['', 'two words', 7])('requires the name of an authority for its targets, not %j', (authority) => {
    const { relay, http } = running.app.get(Payroll);
    expect(() => relay.attachTo(http, { to: [receiver.origin], authority: authority as string })).toThrow(
      'SessionRelay.attachTo(): authority must be the name of an authority',
    );
  });
});
