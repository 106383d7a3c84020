import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Controller, Get, Header, UseGuards } from '@nestjs/common';
import type { Browser, Page } from 'playwright-core';
import { fromCookie, Public, SessionAuthGuard, SessionAuthService } from 'nestjs-session-auth';
import { describeWithBrowser, startBrowser } from '../support/browser.js';
import { platforms } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';
import { Sources, StreamsController } from './streams.controller.js';

@Controller()
@UseGuards(SessionAuthGuard)
class PageController {
  @Get()
  @Public()
  @Header('Content-Type', 'text/html')
  page(): string {
    return '<!doctype html><title>Events</title>';
  }
}

/** Reads events as a page does. Reports what it has got at its first event, or when it has given up. */
const readEvents = ({ url, until }: { url: string; until: string }): Promise<unknown> =>
  new Promise((resolve) => {
    const events = new EventSource(url, { withCredentials: true });
    const seen = { opened: 0, parts: 0, ended: '' };
    const report = (): void => {
      resolve({ ...seen, state: events.readyState });
      if (until === 'events') Object.assign(globalThis, { seen, events });
    };
    events.onopen = () => (seen.opened += 1);
    events.onmessage = () => {
      seen.parts += 1;
      if (until === 'events') report();
    };
    events.addEventListener('session-ended', (event) => {
      seen.ended = (event as unknown as { readonly data: string }).data;
    });
    events.onerror = () => {
      if (events.readyState === EventSource.CLOSED) report();
    };
  });

describeWithBrowser.each(platforms('Express'))('an EventSource with a cookie, on %s', (_name, platform) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());
  const bed = testbed(platform);

  async function start() {
    const service = await bed.service();
    const sample = {
      baseUrl: service.url,
      options: { token: fromCookie('sid') },
      controllers: [PageController, StreamsController],
      providers: [Sources],
    };
    const [own, foreign] = [await bed.sample(sample), await bed.sample(sample)];
    const token = service.signInAs({});
    const context = await browser.newContext();
    await context.addCookies([{ name: 'sid', value: token, url: own.url, httpOnly: true, sameSite: 'Lax' }]);
    const visit = async (url: string): Promise<Page> => {
      const page = await context.newPage();
      await page.goto(url);
      return page;
    };
    return { own, foreign, token, visit, sessions: own.app.get(SessionAuthService) };
  }

  it('gets a last event when its session ends, connects again, and gives up at the 401 [P39]', async () => {
    const { own, token, visit, sessions } = await start();
    const page = await visit(own.url);
    await page.evaluate(readEvents, { url: '/sse', until: 'events' });
    const over = page.waitForFunction('events.readyState === EventSource.CLOSED');
    await sessions.signOut(token);
    await over;

    expect(await page.evaluate('seen.ended')).toContain('SESSION_REJECTED');
    expect(await page.evaluate('seen.opened')).toBe(1);
  });

  it('of a page of another origin, which is of the same site and sends the cookie, reads nothing', async () => {
    const { own, foreign, visit } = await start();
    const page = await visit(foreign.url);

    expect(await page.evaluate(readEvents, { url: `${own.url}/sse`, until: 'closed' })).toEqual({
      opened: 0,
      parts: 0,
      ended: '',
      state: 2,
    });
  });
});
