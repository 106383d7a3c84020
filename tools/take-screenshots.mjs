// Takes the README's pictures of the demo's page, light and dark, from the demo as it is built now.
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { startDemo } from '../apps/demo/dist/start-demo.js';

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const SIZE = { width: 1440, height: 900 };
/** Until the charts show something. */
const WATCHED_MS = 14_000;

const demo = await startDemo({ port: 0, env: {} });
const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] });
try {
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: SIZE, colorScheme });
    await page.goto(demo.url);
    await useIt(page);
    const path = fileURLToPath(new URL(`../docs/images/page-${colorScheme}.png`, import.meta.url));
    await page.screenshot({ path });
    await page.getByRole('button', { name: 'Stop the load' }).click();
    await page.close();
    console.log(path);
  }
} finally {
  await browser.close();
  await demo.close();
}

/** What a visitor does in a quarter of a minute: two users, two routes, a steady load without and with the session cache. */
async function useIt(page) {
  const [a, b] = ['User A', 'User B'].map((name) => page.getByRole('region', { name, exact: true }));
  await page.getByRole('radio', { name: 'Off', exact: true }).check();
  await page.getByRole('button', { name: 'Reset counts' }).click();
  await a.getByRole('button', { name: 'Sign in as manager' }).click();
  await b.getByRole('button', { name: 'Sign in as newhire' }).click();
  for (const pane of [a, b]) {
    await pane.getByText('200 OK').first().waitFor();
    await pane.getByRole('button', { name: 'GET /api/openings', exact: true }).click();
  }
  await b.getByText('403 Forbidden').first().waitFor();
  await b.getByRole('button', { name: 'GET /api/onboarding', exact: true }).click();
  await page.getByRole('button', { name: /^Steady/ }).click();
  await page.waitForTimeout(WATCHED_MS / 2);
  await page.getByRole('radio', { name: '5 s', exact: true }).check();
  await page.waitForTimeout(WATCHED_MS / 2);
}
