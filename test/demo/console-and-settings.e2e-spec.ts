import { afterAll, beforeAll, expect, it, describe } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { startDemo, type RunningDemo } from '../../apps/demo/src/start-demo.js';
import { describeWithBrowser, startBrowser } from '../support/browser.js';
import { explainStartFailure } from '../../apps/demo/src/settings/explain-start-failure.js';
import { readListenSettings } from '../../apps/demo/src/settings/listen-settings.js';
import { DemoClient } from './demo-client.js';

describeWithBrowser('a page of the demo', () => {
  let browser: Browser;
  let demo: RunningDemo;

  beforeAll(async () => {
    browser = await startBrowser();
    demo = await startDemo({ port: 0, env: {} });
  });
  afterAll(async () => {
    await browser.close();
    await demo.close();
  });

  it('at /docs tries a route without a token, and with the one that was given to Authorize', async () => {
    const token = await new DemoClient(demo.url).tokenOf('manager');
    const page = await browser.newPage();
    page.setDefaultTimeout(40_000);
    await page.goto(`${demo.url}/docs`);
    const route = page.locator('.opblock').filter({ hasText: '/api/me' });
    await route.locator('.opblock-summary-control').click();
    await route.getByRole('button', { name: 'Try it out' }).click();
    const execute = async (status: string): Promise<void> => {
      await route.getByRole('button', { name: 'Execute' }).click();
      await route.locator('.live-responses-table .response-col_status', { hasText: status }).waitFor();
    };
    await execute('401');

    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await page.locator('.auth-container input[type=text], .auth-container input[type=password]').fill(token);
    await page.getByRole('button', { name: 'Apply credentials' }).click();
    await page.getByRole('button', { name: 'Close' }).click();
    await execute('200');
    expect(await route.locator('.live-responses-table').textContent()).toContain('hiring_manager');
  });

  async function watch(): Promise<IncomingMessage> {
    const [reply] = (await once(get(`${demo.url}/console/live`, { agent: false }), 'response')) as [
      IncomingMessage,
    ];
    return reply.on('error', () => undefined);
  }

  it('shows why it has no live stream if too many pages watch, works without, and gets one when a place is free', async () => {
    const others = await Promise.all(Array.from({ length: 16 }, watch));
    expect(others.map(({ statusCode }) => statusCode)).toEqual(Array(16).fill(200));
    const page = await browser.newPage();
    page.setDefaultTimeout(40_000);
    await page.goto(demo.url);
    await page.getByText('too many pages watch').waitFor();
    await page.getByRole('button', { name: 'Free play' }).click();
    await page.getByRole('radio', { name: 'manager' }).check();
    await page.getByText('200 OK').first().waitFor();

    for (const other of others) other.destroy();
    await page.locator('.stream[data-connected=true]').waitFor();
  });
});

/** A loopback URL where nothing listens. */
async function closedUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

describe('the demo without its session service', () => {
  it('starts, sends Retry-After, and still serves public routes', async () => {
    const demo = await startDemo({
      port: 0,
      env: { SESSION_SERVICE_URL: await closedUrl(), SESSION_SERVICE_API_KEY: 'a-key' },
    });
    try {
      const client = new DemoClient(demo.url);
      const signIn = await client.signIn('manager', 'any-password');
      const me = await client.get('/api/me', 'any-token');
      for (const reply of [signIn, me]) {
        expect(reply.status).toBe(503);
        expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      }
      expect((await client.get('/api/health')).status).toBe(200);
      expect((await client.get('/')).status).toBe(200);
      expect((await client.get('/console/info')).json()).toEqual({
        users: [],
        controls: false,
        platform: 'express',
      });
    } finally {
      await demo.close();
    }
  });
});

/** The message of a demo that does not start with this environment. */
async function refusalOf(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    const demo = await startDemo({ env: { PORT: '0', ...env } });
    await demo.close();
    return undefined;
  } catch (error) {
    return explainStartFailure(error);
  }
}

describe('the settings of the demo', () => {
  it.each(['eighty', '-1', '65536', '3000.5', ' '])('refuse PORT "%s"', async (port) => {
    await expect(refusalOf({ PORT: port })).resolves.toMatch(/^PORT must be a whole number from 0 to 65535/);
  });

  it.each([{}, { PORT: '', HOST: '' }])('are port 3000 of the loopback address with %j', (env) => {
    expect(readListenSettings(env)).toEqual({ port: 3000, host: '127.0.0.1' });
  });

  it('ask for the key when only the URL of the session service is set', async () => {
    await expect(refusalOf({ SESSION_SERVICE_URL: 'http://127.0.0.1:9' })).resolves.toContain(
      'set SESSION_SERVICE_API_KEY',
    );
  });

  it('ask for the URL when only the key is set, without revealing the key', async () => {
    const refusal = await refusalOf({ SESSION_SERVICE_API_KEY: 'a-secret-key' });
    expect(refusal).toContain('set SESSION_SERVICE_URL');
    expect(refusal).not.toContain('a-secret-key');
  });

  it('refuse an invalid URL of the session service', async () => {
    const refusal = await refusalOf({
      SESSION_SERVICE_URL: 'sessions',
      SESSION_SERVICE_API_KEY: 'a-secret-key',
    });
    expect(refusal).toContain('SESSION_SERVICE_URL');
    expect(refusal).not.toContain('a-secret-key');
  });

  it('refuse the embedded session service in production, and name the variables to set instead', async () => {
    const refusal = await refusalOf({ NODE_ENV: 'production' });
    expect(refusal).toMatch(/NODE_ENV=production.*Set SESSION_SERVICE_URL and SESSION_SERVICE_API_KEY/);
  });

  it.each([
    ['0.0.0.0', /^http:\/\/127\.0\.0\.1:\d+$/],
    ['127.0.0.1', /^http:\/\/127\.0\.0\.1:\d+$/],
  ])('name with HOST %s an address that leads there', async (HOST, url) => {
    const demo = await startDemo({ env: { PORT: '0', HOST } });
    try {
      expect(demo.url).toMatch(url);
      expect((await fetch(`${demo.url}/api/health`)).status).toBe(200);
    } finally {
      await demo.close();
    }
  });

  it('report that the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    try {
      await expect(refusalOf({ PORT: String(port) })).resolves.toBe(
        `127.0.0.1:${port} is in use: stop the program that listens there, or set PORT to another port.`,
      );
    } finally {
      other.close();
    }
  });
});
