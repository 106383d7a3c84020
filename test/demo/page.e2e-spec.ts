import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Browser } from 'playwright-core';
import { type RunningDemo, startDemo } from '../../apps/demo/src/start-demo.js';
import { describeWithBrowser, startBrowser } from '../support/browser.js';
import { IS_LONG_FORM, oneOf } from '../support/long-form.js';
import { PLATFORMS } from '../support/platforms.js';
import { json, startScriptedService } from '../support/scripted-service.js';
import { DemoClient } from './demo-client.js';
import { accessibilityProblems } from './accessibility.js';
import { Visitor, type Visit } from './visitor.js';

describeWithBrowser.each(oneOf(PLATFORMS))('the page on %s', (platform, newAdapter) => {
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

  beforeEach(async () => {
    await client.send('PUT', '/console/fault', { body: { fault: 'none' } });
    await client.send('PUT', '/console/cache', { body: { ttlSeconds: 0, refreshAhead: false, staleIfError: false } });
    await client.send('POST', '/console/reset');
  });
  afterEach(async () => {
    for (const visitor of visitors.splice(0)) {
      expect(visitor.complaints).toEqual([]);
      expect([...visitor.origins]).toEqual([demo.url]);
      await visitor.leave();
    }
    await client.send('DELETE', '/console/load');
  });

  async function visit(how: Visit = {}): Promise<Visitor> {
    const visitor = await Visitor.of(browser, demo.url, how);
    visitors.push(visitor);
    return visitor;
  }

  it('lets two users try the same routes side by side, and says why one may not', async () => {
    const visitor = await visit();
    await visitor.signIn('A', 'manager');
    await visitor.signIn('B', 'newhire');
    await visitor.call('A', 'GET /api/openings', '200 OK');
    await visitor.call('B', 'GET /api/openings', '403 Forbidden');
    await visitor.pane('A').getByText('Site engineer').waitFor();
    await visitor.pane('B').getByText('the rule of this route denies this user').first().waitFor();
    const source = visitor.pane('B').getByText('export class OpeningsController');
    await source.waitFor();
    expect(await source.textContent()).toMatch(/@Roles\('hiring_manager'\)[^]*@Get\(\)[^]*list\(\)/);
    await visitor.guard.getByText('403 not allowed').waitFor();
    await visitor.screenshot(`${platform}-two-users`);
  });

  it.each([
    [
      'manager',
      { 'POST /api/openings/:id/approval': '200 OK', 'GET /api/onboarding': '403', 'GET /api/companies/:companyId/report': '200' },
    ],
    ['recruiter', { 'POST /api/openings/:id/approval': '403', 'GET /api/benefits': '200 OK', 'GET /api/benefits/advice': '403' }],
    ['newhire', { 'GET /api/onboarding': '200 OK', 'GET /api/companies/:companyId/report': '403', 'GET /api/benefits': '403' }],
  ])('lets a %s in where the rules say so, and nowhere else', async (username, routes) => {
    const visitor = await visit();
    await visitor.signIn('A', username);
    for (const [route, status] of Object.entries(routes)) await visitor.call('A', route, status);
  });

  it('shows the challenge to a caller without a session, and the routes that are open to all', async () => {
    const visitor = await visit();
    await visitor.call('A', 'GET /api/me', '401 Unauthorized');
    await visitor.pane('A').getByText('WWW-Authenticate: X-Auth-Token realm="session"').waitFor();
    await visitor.call('A', 'GET /api/greeting', '200 OK');
    await visitor.pane('A').getByRole('region', { name: 'Reply to user A' }).getByText('Welcome, stranger!').waitFor();
    await visitor.call('A', 'GET /api/health', '200 OK');
  });

  it('does not call a session valid where none is required', async () => {
    const visitor = await visit();
    await visitor.signIn('A', 'manager');
    await client.send('POST', '/console/end-sessions');
    await visitor.call('A', 'GET /api/greeting', '200 OK');
    await visitor.pane('A').getByText('Welcome, stranger!').first().waitFor();
    await visitor.pane('A').getByText('undefined otherwise').first().waitFor();
  });

  it('refuses a session at once when it was signed out', async () => {
    await client.send('PUT', '/console/cache', { body: { ttlSeconds: 300, refreshAhead: false, staleIfError: false } });
    const visitor = await visit();
    await visitor.signIn('A', 'manager');
    await visitor.call('A', 'GET /api/openings', '200 OK');
    await visitor.pane('A').getByRole('button', { name: 'Sign out' }).click();
    await visitor.pane('A').getByRole('button', { name: 'Try the old token again' }).click();
    await visitor.pane('A').getByText('401 Unauthorized').first().waitFor();
    await visitor.pane('A').getByText('error="invalid_token"').waitFor();
  });

  it('leads to what else the backend shows of itself', async () => {
    const visitor = await visit();
    await visitor.page.getByText(`A guarded NestJS backend on ${platform}`).waitFor();
    const links = await visitor.page.getByRole('navigation').getByRole('link').all();
    expect(links).toHaveLength(3);
    for (const link of links) expect((await client.get(`/${await link.getAttribute('href')}`)).status).toBe(200);
  });

  it('takes own credentials, and says that wrong ones are wrong', async () => {
    const visitor = await visit();
    const pane = visitor.pane('A');
    await pane.getByText('Own credentials').click();
    await pane.getByLabel('Username').fill('recruiter');
    await pane.getByLabel('Password').fill('not-the-password');
    await pane.getByRole('button', { name: 'Sign in', exact: true }).click();
    await pane.getByText('The username or the password is wrong').first().waitFor();
    expect(await visitor.page.content()).not.toContain('not-the-password');
    await pane.getByLabel('Password').fill('recruiter-demo');
    await pane.getByRole('button', { name: 'Sign in', exact: true }).click();
    await pane.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  it('keeps the token out of sight, and out of all that outlives the tab', async () => {
    const visitor = await visit();
    const signedIn = visitor.page.waitForResponse((reply) => reply.url().endsWith('/api/session'));
    await visitor.signIn('A', 'manager');
    const { token } = (await (await signedIn).json()) as { token: string };
    await visitor.call('A', 'GET /api/openings', '200 OK');
    await visitor
      .pane('A')
      .getByText(`X-AUTH-TOKEN: ${token.slice(0, 4)}…`)
      .waitFor();
    expect(await visitor.page.content()).not.toContain(token);
    const kept = await visitor.page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
    );
    expect(kept).toBe(JSON.stringify([{}, {}, '', `${demo.url}/`]));
    await visitor.page.reload();
    await visitor.pane('A').getByText('not signed in').first().waitFor();
  });

  it('shows a stampede become one call', async () => {
    const visitor = await visit();
    await visitor.signIn('A', 'manager');
    await visitor.page.getByRole('button', { name: 'Stampede: 500 requests at once' }).click();
    const said = visitor.page.getByText(/^500 requests, \d+ answered 200, (\d+ without a reply, )?\d+ calls? to the session service/);
    await said.waitFor();
    const calls = Number(/(\d+) calls? to/.exec((await said.textContent()) ?? '')?.[1]);
    expect(calls).toBeGreaterThan(0);
    expect(calls).toBeLessThan(20);
  });

  it('shows the breaker open under load, everyone denied meanwhile, and closed again when the service is well', async () => {
    const visitor = await visit();
    await visitor.signIn('A', 'manager');
    await visitor.choose('Broken (500)');
    await visitor.page.getByRole('button', { name: 'Steady: 20 per second for 30 s' }).click();
    await visitor.guard.getByText('Breaker open').waitFor();
    await visitor.call('A', 'GET /api/me', '503 Service Unavailable');
    await visitor
      .pane('A')
      .getByText(/^Retry-After: \d+$/m)
      .waitFor();
    await visitor.screenshot(`${platform}-breaker-open`);
    await visitor.choose('Healthy');
    await visitor.guard.getByText('Breaker closed').waitFor({ timeout: 60_000 });
    await visitor.call('A', 'GET /api/me', '200 OK');
    await visitor.page.getByRole('button', { name: 'Stop the load' }).click();
  });

  it('shows the price of memory: a session that was ended elsewhere still works here, except where the route asks for certainty', async () => {
    const visitor = await visit();
    await visitor.choose('5 min');
    await visitor.page.getByText(/still works here for up to 5 min/).waitFor();
    await visitor.signIn('A', 'manager');
    await visitor.call('A', 'GET /api/openings', '200 OK');
    await visitor.page.getByRole('button', { name: 'End all sessions' }).click();
    await visitor.call('A', 'GET /api/onboarding', '403 Forbidden');
    await visitor.call('A', 'POST /api/payroll/run', '401 Unauthorized');
    await visitor.call('A', 'GET /api/openings', '401 Unauthorized');
  });

  it('is used by the keyboard alone', async () => {
    const visitor = await visit();
    const tabTo = async (name: string): Promise<void> => {
      for (let pressed = 0; pressed < 80; pressed += 1) {
        await visitor.page.keyboard.press('Tab');
        const focused = await visitor.page.evaluate('document.activeElement?.textContent?.trim()');
        if (typeof focused === 'string' && focused.startsWith(name)) return;
      }
      throw new Error(`The keyboard does not reach ${name}`);
    };
    await tabTo('Sign in as manager');
    await visitor.page.keyboard.press('Enter');
    await visitor.pane('A').getByText('200 OK').first().waitFor();
    await tabTo('GET /api/openings');
    await visitor.page.keyboard.press('Space');
    await visitor.pane('A').getByText('Site engineer').waitFor();
  });

  it('says so when an experiment can not begin', async () => {
    const visitor = await visit();
    await visitor.page.route('**/api/session', (route) => route.fulfill({ status: 503, headers: { 'retry-after': '5' } }));
    await visitor.page.getByRole('button', { name: 'The price of caching' }).click();
    await visitor.page.getByRole('button', { name: 'End a cached session' }).click();
    await visitor.page.getByText('The sign-in failed').waitFor();
    await visitor.pane('A').getByText('Try again in 5 s.').first().waitFor();
  });

  it('leaves the keyboard where it is when an experiment signs a user in', async () => {
    const visitor = await visit();
    const focused = (): Promise<unknown> => visitor.page.evaluate('document.activeElement?.textContent?.trim()');
    await visitor.page.getByRole('button', { name: 'Sign-out works at once' }).click();
    await visitor.page.getByRole('button', { name: 'Sign in with a cached session' }).press('Enter');
    await visitor.pane('A').getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await focused()).toBe('Sign in with a cached session');
    await visitor.signIn('B', 'newhire');
    expect(await focused()).toBe('Sign out');
    await visitor.pane('B').getByRole('button', { name: 'Sign out' }).press('Enter');
    await visitor.pane('B').getByRole('button', { name: 'Try the old token again' }).waitFor();
    expect(await focused()).toBe('Try the old token again');
  });

  it.each(IS_LONG_FORM ? [360, 768, 1280, 1920] : [360, 1920])('fits into %i pixels without scrolling sideways', async (width) => {
    const visitor = await visit({ width });
    await visitor.signIn('A', 'manager');
    await visitor.call('A', 'GET /api/companies/:companyId/report', '200 OK');
    const overhang = await visitor.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(overhang).toBe(0);
    if (width === 360) await visitor.screenshot(`${platform}-narrow`);
  });

  const LOOKS = [
    { width: 1440, colorScheme: 'light' },
    { width: 360, colorScheme: 'dark' },
    ...(IS_LONG_FORM ? [{ width: 1440, colorScheme: 'dark' } as const, { width: 360, colorScheme: 'light' } as const] : []),
  ] as const;
  it.each(LOOKS)('has nothing that an accessibility check finds, before and after a sign-in, with %j', async (how) => {
    // Without motion: a colour half-way between two is nobody's to read.
    const visitor = await visit({ ...how, reducedMotion: 'reduce', bypassCSP: true });
    expect(await accessibilityProblems(visitor.page)).toEqual([]);
    await visitor.signIn('A', 'manager');
    await visitor.call('A', 'GET /api/onboarding', '403 Forbidden');
    await visitor.choose('Garbage');
    await visitor.call('B', 'GET /api/me', '401 Unauthorized');
    expect(await accessibilityProblems(visitor.page)).toEqual([]);
  });

  it('says so when the demo is gone', async () => {
    const mortal = await startDemo({ port: 0, env: {}, newAdapter });
    const visitor = await Visitor.of(browser, mortal.url);
    await mortal.close();
    await visitor.guard.getByText('The live stream was interrupted').waitFor();
    await visitor.pane('A').getByRole('button', { name: 'GET /api/me', exact: true }).click();
    await visitor.pane('A').getByText('No reply came').first().waitFor();
    await visitor.leave();
  });
});

describeWithBrowser('the page of a demo with another session service', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  it('offers neither users nor buttons, and signs in with credentials', async () => {
    const service = await startScriptedService();
    service.on(
      'sign_in',
      json({ username: 'ann', role: 'hiring_manager', auth_token: service.signInAs({ username: 'ann', role: 'hiring_manager' }) }),
    );
    const demo = await startDemo({ port: 0, env: { SESSION_SERVICE_URL: service.url, SESSION_SERVICE_API_KEY: 'a-key' } });
    const visitor = await Visitor.of(browser, demo.url);
    const pane = visitor.pane('A');
    await pane.getByLabel('Username').fill('ann');
    await pane.getByLabel('Password').fill('a-password');
    await pane.getByRole('button', { name: 'Sign in', exact: true }).click();
    await visitor.call('A', 'GET /api/openings', '200 OK');
    await visitor.call('B', 'GET /api/openings', '401 Unauthorized');
    expect(
      await visitor.page.getByRole('button', { name: /Sign in as|End all sessions|Reset counts|requests at once|per second for/ }).count(),
    ).toBe(0);
    expect(await visitor.page.getByRole('radio').count()).toBe(0);
    expect(visitor.complaints).toEqual([]);
    await visitor.leave();
    await demo.close();
    await service.close();
  });
});
