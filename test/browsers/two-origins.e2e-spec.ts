import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describeWithBrowser, startBrowser } from '../support/browser.js';
import { until } from '../support/until.js';
import { ANN, startGuideServers, type Arrival, type GuideServers } from './guide-servers.js';

const API = 'https://api.example.com';
const FRONT_END = 'https://app.example.com';
/** Of the same site, so that browsers send it the cookie, which has SameSite=Lax. */
const SIBLING = 'https://blog.example.com';
const STRANGER = 'https://evil.example';

/** Scripts of a page, as text: the browser runs them. Each settles, also if its request fails. */
const form = (path: string, fields = ''): string => `
  const form = Object.assign(document.createElement('form'), { method: 'POST', action: '${API}${path}' });
  form.innerHTML = '${fields}';
  document.body.append(form);
  form.submit();`;
const sandboxed = (path: string): string => `
  const frame = Object.assign(document.createElement('iframe'), { sandbox: 'allow-scripts allow-forms allow-popups' });
  frame.srcdoc = '<form method=POST target=_blank action="${API}${path}"></form><script>document.forms[0].submit()</script>';
  document.body.append(frame);`;
const fetching = (path: string, init: string): string =>
  `fetch('${API}${path}', { credentials: 'include', ${init} }).then((r) => r.status, () => 'unread')`;
const socket = `new Promise((resolve) => {
  const socket = new WebSocket('${API.replace('http', 'ws')}/feed');
  socket.onopen = () => socket.send(JSON.stringify({ event: 'me' }));
  socket.onmessage = ({ data }) => resolve(data);
  socket.onerror = () => resolve('refused');
})`;
const SIGN_IN_FIELDS = `<input name="username" value="${ANN.username}"><input name="password" value="${ANN.password}">`;

describeWithBrowser('docs/browsers.md in Chromium', () => {
  let servers: GuideServers;
  let browser: Browser;
  let context: BrowserContext;

  beforeAll(async () => {
    servers = await startGuideServers();
    browser = await startBrowser(servers.hosts);
  });
  afterAll(async () => {
    await browser.close();
    await servers.close();
  });
  beforeEach(async () => {
    context = await browser.newContext({ ignoreHTTPSErrors: true });
    servers.arrivals.length = 0;
  });
  afterEach(() => context.close());

  async function visit(origin: string): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${origin}/me`);
    return page;
  }

  /** Signs in with the code of the guide, on the page of the front end. */
  async function signIn(): Promise<Page> {
    const page = await visit(FRONT_END);
    expect(await frontEnd(page, `signIn('${ANN.username}', '${ANN.password}').then((r) => r.status)`)).toBe(
      204,
    );
    servers.arrivals.length = 0;
    return page;
  }

  const frontEnd = (page: Page, call: string): Promise<unknown> =>
    page.evaluate(`import('/session.js').then((session) => session.${call})`);

  /** Runs a script on a page, and returns the request to a path that the API has answered. */
  async function arrivalOf(page: Page, script: string, path: string): Promise<Arrival | undefined> {
    const index = servers.arrivals.length;
    const arrived = (): Arrival[] => servers.arrivals.slice(index).filter((arrival) => arrival.path === path);
    void page.evaluate(script).catch(() => undefined);
    await until(`the request to ${path}`, () => arrived().length > 0);
    return arrived()[0];
  }

  it('the front end of a trusted origin signs in, reads, writes, opens a socket and signs out', async () => {
    const page = await signIn();

    expect(await frontEnd(page, 'me().then((r) => r.json())')).toMatchObject({ username: 'ann' });
    expect(await frontEnd(page, 'addNote().then((r) => r.json())')).toEqual({ addedBy: 'ann' });
    expect(await page.evaluate(socket)).toBe('{"event":"me","data":"ann"}');
    expect(await page.evaluate('document.cookie')).toBe('');
    const [cookie] = await context.cookies(API);
    expect(cookie).toMatchObject({
      name: '__Host-session',
      domain: 'api.example.com',
      httpOnly: true,
      secure: true,
      sameSite: 'Lax',
    });

    expect(await frontEnd(page, 'signOut().then((r) => r.status)')).toBe(204);
    expect(await context.cookies(API)).toEqual([]);
    expect(await frontEnd(page, 'me().then((r) => r.status)')).toBe(401);
  });

  it('a page of the API itself writes with a form', async () => {
    await signIn();
    const page = await visit(API);

    expect(await arrivalOf(page, form('/notes'), '/notes')).toMatchObject({
      site: 'same-origin',
      hasCookie: true,
      status: 201,
    });
  });

  it.each([
    ['a form', form('/notes')],
    ['fetch with credentials that ignores CORS', fetching('/notes', "method: 'POST', mode: 'no-cors'")],
    ['a beacon', `navigator.sendBeacon('${API}/notes', 'x')`],
  ])(
    'a page of another origin of the same site has its cookie sent, and is refused: %s [P20]',
    async (_attempt, script) => {
      await signIn();
      const page = await visit(SIBLING);

      expect(await arrivalOf(page, script, '/notes')).toMatchObject({
        method: 'POST',
        hasCookie: true,
        status: 403,
      });
    },
  );

  it('a page of another origin opens no socket, reads nothing, and sends no DELETE', async () => {
    await signIn();
    const page = await visit(SIBLING);

    expect(await page.evaluate(socket)).toBe('refused');
    expect(servers.arrivals).toMatchObject([{ path: '/feed', origin: SIBLING, hasCookie: true }]);
    expect(await page.evaluate(fetching('/me', "method: 'GET'"))).toBe('unread');
    expect(await page.evaluate(fetching('/session', "method: 'DELETE'"))).toBe('unread');
    expect(servers.arrivals.filter(({ method }) => method === 'DELETE')).toEqual([]);
  });

  it('a page of another site has no cookie sent', async () => {
    await signIn();
    const page = await visit(STRANGER);

    for (const script of [fetching('/notes', "method: 'POST', mode: 'no-cors'"), form('/notes')])
      expect(await arrivalOf(page, script, '/notes')).toMatchObject({
        site: 'cross-site',
        hasCookie: false,
        status: 401,
      });
  });

  it.each([
    ['a form', form('/notes'), STRANGER],
    ['a form of a sandboxed frame', sandboxed('/notes'), 'null'],
  ])(
    'a page of another site is refused if the cookie has SameSite=None: %s [P20]',
    async (_attempt, script, origin) => {
      await signIn();
      const cookies = await context.cookies(API);
      await context.addCookies(cookies.map((cookie) => ({ ...cookie, sameSite: 'None' })));
      const page = await visit(STRANGER);

      expect(await arrivalOf(page, script, '/notes')).toMatchObject({
        site: 'cross-site',
        origin,
        hasCookie: true,
        status: 403,
      });
    },
  );

  it.each([SIBLING, STRANGER])(
    'a page of %s does not sign its visitor in to an account of its own',
    async (origin) => {
      const page = await visit(origin);

      expect(await arrivalOf(page, form('/session', SIGN_IN_FIELDS), '/session')).toMatchObject({
        method: 'POST',
        status: 403,
      });
      expect(await context.cookies(API)).toEqual([]);
    },
  );
});
