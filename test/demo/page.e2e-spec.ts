import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Browser } from 'playwright-core';
import { NO_CACHE } from '../../apps/demo/src/backend/cache-choice.js';
import { SCENES, type SceneName } from '../../apps/demo/src/console/messages.js';
import { type RunningDemo, startDemo } from '../../apps/demo/src/start-demo.js';
import { describeWithBrowser, startBrowser } from '../support/browser.js';
import { inLongForm } from '../support/long-form.js';
import { platforms } from '../support/platforms.js';
import { DemoClient } from './demo-client.js';
import { LiveReports } from './live-reports.js';
import { accessibilityProblems } from './accessibility.js';
import { Visitor, type Visit } from './visitor.js';

const FIGURES: Readonly<Record<SceneName, RegExp>> = {
  stampede: /^\d+ calls? to the session service, for [45]\d\d admitted requests$/,
  outage: /^[\d.,]+ .?s to deny a request while the breaker was open/,
  'sign-out': /^0 of \d+ requests admitted after the sign-out$/,
  junk: /^(\d+) of \1 requests of signed-in users admitted during the flood$/,
  deploy: /^0 of \d+ requests lost or refused$/,
  cache: /^\d\.\d s the ended session still worked here$/,
};

describeWithBrowser.each(platforms('Express'))('the page on %s', (platform, newAdapter) => {
  let browser: Browser;
  let demo: RunningDemo;
  let client: DemoClient;
  const visitors: Visitor[] = [];

  beforeAll(async () => {
    browser = await startBrowser();
    demo = await startDemo({ port: 0, env: {}, newAdapter });
    client = new DemoClient(demo.url);
  });
  afterAll(async () => {
    await browser.close();
    await demo.close();
  });

  const settings = (): Promise<unknown> =>
    Promise.all([
      client.send('PUT', '/console/fault', { body: { fault: 'none' } }),
      client.send('PUT', '/console/cache', { body: NO_CACHE }),
      client.send('DELETE', '/console/load'),
    ]);
  beforeEach(settings);
  afterEach(async () => {
    for (const visitor of visitors.splice(0)) {
      expect(visitor.complaints).toEqual([]);
      expect([...visitor.origins]).toEqual([demo.url]);
      await visitor.leave();
    }
  });

  async function visit(how: Visit = {}): Promise<Visitor> {
    const visitor = await Visitor.of(browser, demo.url, how);
    visitors.push(visitor);
    return visitor;
  }

  /** Waits until the demo is as it was before any scene. */
  async function restored(): Promise<void> {
    const live = await LiveReports.of(demo.url);
    const report = await live.next(({ scene }) => scene === undefined);
    await live.close();
    expect(report).toMatchObject({
      fault: 'none',
      cache: NO_CACHE,
      breakers: { known: 'closed', strangers: 'closed' },
    });
  }

  it('shows a stream that ends when its session does, and why', async () => {
    const visitor = await visit();
    await visitor.play();
    const stream = visitor.drawer.getByRole('region', { name: 'Stream' });
    const open = stream.getByRole('button', { name: 'Open a stream' });
    await open.click();
    await stream.getByText('Over after 0 events: 401 Unauthorized.').waitFor();
    await visitor.sendAs('manager');
    await open.click();
    await stream.getByText(/^Open: [1-9]\d* events/).waitFor();
    await visitor.drawer.getByRole('button', { name: 'Sign out' }).click();
    await stream.getByText(/^Over after [1-9]\d* events: session-ended, SESSION_REJECTED\.$/).waitFor();
    await visitor.screenshot(`${platform}-stream`);
  });

  const PLAYED = inLongForm('four of the six scenes') ? SCENES : (['outage', 'sign-out'] as const);
  it.each(PLAYED)(
    'plays the scene %s in three steps, ends in its figure, and restores everything',
    async (scene: SceneName) => {
      const visitor = await visit();
      await visitor.start(scene);
      expect(await visitor.figure()).toMatch(FIGURES[scene]);
      expect(await visitor.page.locator('.steps [data-state=done]').count()).toBe(3);
      await visitor.screenshot(`${platform}-${scene}`);
      await visitor.lane
        .getByText(/^[\d,]+ requests?, \d+ calls? to the session service: [a-z]/)
        .waitFor({ state: 'attached' });
      await restored();
    },
  );

  it('passes an accessibility check in every state, narrow and dark', async () => {
    // Without motion: the colour in the middle of a transition is not checked.
    const how = { width: 360, colorScheme: 'dark', reducedMotion: 'reduce', bypassCSP: true } as const;
    const visitor = await visit(how);
    expect(await accessibilityProblems(visitor.page)).toEqual([]);
    await visitor.start('sign-out');
    // Each request stands where it was decided.
    await visitor.lane.locator('canvas[data-marks]:not([data-marks="0"])').waitFor();
    await visitor.figure();
    expect(await accessibilityProblems(visitor.page)).toEqual([]);
    await visitor.screenshot(`${platform}-still`);
    await visitor.play();
    await visitor.sendAs('manager');
    await visitor.call('GET /api/onboarding', '403 Forbidden');
    await visitor.choose('Garbage');
    await visitor.drawer.getByText('Request, reply and source').click();
    expect(await accessibilityProblems(visitor.page)).toEqual([]);
  });

  it('shows the source and the age of each verdict, and calls no revoked session valid', async () => {
    const visitor = await visit();
    await visitor.play();
    await visitor.choose('5 min');
    await visitor.page.getByText(/still works here for up to 5 min/).waitFor();
    await visitor.sendAs('manager');
    const { drawer } = visitor;
    await visitor.explained('The session service answered, just now.');
    await visitor.page.getByRole('button', { name: 'End all sessions' }).click();
    await drawer.getByText(/sessions? ended, at the session service only/).waitFor();
    await visitor.call('GET /api/openings', '200 OK');
    await visitor.explained(/^The cache answered, with what the service said \d+\.\d s ago\.$/);
    await visitor.explained('The session was valid when the service was asked');
    expect(await drawer.getByText('The session is valid', { exact: false }).count()).toBe(0);
    await visitor.call('POST /api/payroll/run', '401 Unauthorized');
    await visitor.call('GET /api/openings', '401 Unauthorized');
  });

  it('never shows the token, and stores it nowhere that outlives the tab', async () => {
    const visitor = await visit();
    await visitor.play();
    const signedIn = visitor.page.waitForResponse((reply) => reply.url().endsWith('/api/session'));
    await visitor.sendAs('manager');
    const { token } = (await (await signedIn).json()) as { token: string };
    await visitor.call('GET /api/openings', '200 OK');
    await visitor.drawer.getByText(`X-AUTH-TOKEN: ${token.slice(0, 4)}…`).waitFor({ state: 'attached' });
    expect(await visitor.page.content()).not.toContain(token);
    const kept = await visitor.page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
    );
    expect(kept).toBe(JSON.stringify([{}, {}, '', `${demo.url}/`]));
  });
});
