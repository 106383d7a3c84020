import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Browser } from 'playwright-core';
import { type RunningDemo, startDemo } from '../../apps/demo/src/start-demo.js';
import { describeWithBrowser, startBrowser } from '../support/browser.js';

describeWithBrowser('the page, where too many others watch already,', () => {
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

  async function watch(): Promise<IncomingMessage> {
    const [reply] = (await once(get(`${demo.url}/console/live`, { agent: false }), 'response')) as [IncomingMessage];
    return reply.on('error', () => undefined);
  }

  it('says that it has no live stream and why, works without, and gets one once there is a place', async () => {
    const others = await Promise.all(Array.from({ length: 16 }, watch));
    expect(others.map(({ statusCode }) => statusCode)).toEqual(Array(16).fill(200));
    const page = await browser.newPage();
    page.setDefaultTimeout(40_000);
    await page.goto(demo.url);
    await page.getByText('too many pages watch').waitFor();
    await page.getByRole('button', { name: 'Sign in as manager' }).first().click();
    await page.getByText('200 OK').first().waitFor();

    for (const other of others) other.destroy();
    await page.getByRole('region', { name: 'The guard' }).locator('[data-connected=true]').waitFor();
  });
});
