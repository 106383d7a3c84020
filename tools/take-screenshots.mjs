// Takes the README's pictures of the demo's page from the demo as it is built now: stills, light and dark,
// and an animation of a stampede.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { startDemo } from '../apps/demo/dist/start-demo.js';
import { animatedWebp } from './animated-webp.mjs';

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
/** The width at which the README shows the pictures: text keeps its size. */
const SIZE = { width: 832, height: 760 };
const FRAME_MS = 80;

const demo = await startDemo({ port: 0, env: {} });
const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] });
try {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(colorScheme);
    await page.getByRole('button', { name: 'The service goes down' }).click();
    await page.locator('.big').waitFor();
    await page.screenshot({ path: image(`page-${colorScheme}.png`), animations: 'disabled' });
    await page.close();
  }
  await animate(await open('light'));
} finally {
  await browser.close();
  await demo.close();
}

async function open(colorScheme) {
  const page = await browser.newPage({ viewport: SIZE, colorScheme });
  await page.goto(demo.url);
  await page.locator('.stream[data-connected=true]').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.locator('canvas:not([data-marks]), canvas[data-marks="0"]').waitFor();
  return page;
}

/** Films the lane from the moment when the requests of the stampede come in until all have left. */
async function animate(page) {
  const client = await page.context().newCDPSession(page);
  await page.getByRole('button', { name: 'A stampede' }).click();
  const marks = page.locator('canvas');
  await page.locator('canvas[data-marks]:not([data-marks="0"])').waitFor();
  const lane = await page.locator('.lane').boundingBox();
  const scrolled = await page.evaluate('scrollY');
  const clip = {
    x: Math.round(lane.x),
    y: Math.round(lane.y + scrolled),
    width: Math.round(lane.width),
    height: Math.round(lane.height),
    scale: 1,
  };
  const frames = [];
  for (let isOver = false; !isOver;) {
    const takenAt = performance.now();
    const { data } = await client.send('Page.captureScreenshot', { format: 'webp', quality: 60, clip });
    isOver = (await marks.getAttribute('data-marks')) === '0';
    await page.waitForTimeout(Math.max(0, FRAME_MS - (performance.now() - takenAt)));
    frames.push({ picture: Buffer.from(data, 'base64'), ms: isOver ? 2_500 : performance.now() - takenAt });
  }
  writeFileSync(image('page-stampede.webp'), animatedWebp(frames, clip));
}

function image(name) {
  const path = fileURLToPath(new URL(`../docs/images/${name}`, import.meta.url));
  console.log(path);
  return path;
}
