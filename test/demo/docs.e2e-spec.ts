import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Browser } from 'playwright-core';
import { type RunningDemo, startDemo } from '../../apps/demo/src/start-demo.js';
import { describeWithBrowser, startBrowser } from '../support/browser.js';
import { DemoClient } from './demo-client.js';

describeWithBrowser('the page of the API at /docs, which is there on Express,', () => {
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

  it('tries a route without a token, and with the one that was given to Authorize', async () => {
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
});
