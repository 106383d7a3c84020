// Measures the cost of a frame of the demo's page with 2,000 marks: `npm run bench:page`. Folders as
// arguments (`-- folder other-folder`) are builds of the page to compare, measured in turn in the same
// browser. The control is an empty canvas. Needs Chromium (/usr/bin/chromium, or CHROMIUM).
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { serveSyntheticDemo } from './synthetic-demo.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const WARM_UP_MS = 4_000;
const MEASURED_MS = 4_000;
/** Enough that the page reaches its limit of 2,000 marks. */
const REQUESTS_PER_SECOND = 1_200;
const SIZE = { width: 1440, height: 900 };

const folders =
  process.argv.length > 2
    ? process.argv.slice(2)
    : [fileURLToPath(new URL('../../apps/demo/page/dist', import.meta.url))];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const system = await browser.newBrowserCDPSession();
const demos = await Promise.all(folders.map((folder) => serveSyntheticDemo(folder, REQUESTS_PER_SECOND)));
const variants = [
  ['empty canvas', `${demos[0].url}empty`],
  ...demos.map(({ url }, index) => [folders[index], url]),
];
const rows = variants.map(([name]) => ({ name, rounds: [] }));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [index, [, url]] of variants.entries()) rows[index].rounds.push(await measure(url));
}
for (const { name, rounds } of rows) {
  console.log(`\n${name} (min / median / max of ${ROUNDS})`);
  console.table(
    Object.fromEntries(
      Object.keys(rounds[0]).map((figure) => [figure, spread(rounds.map((measured) => measured[figure]))]),
    ),
  );
}
await browser.close();
for (const demo of demos) demo.close();

async function measure(url) {
  const page = await browser.newPage({ viewport: SIZE });
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable');
  await page.goto(url);
  await setTimeout(WARM_UP_MS);
  await page.evaluate(`(() => { let frames = 0; globalThis.frames = () => frames;
    const count = () => { frames += 1; requestAnimationFrame(count); }; count(); })()`);
  const before = await read(page, client);
  await setTimeout(MEASURED_MS);
  const after = await read(page, client);
  const frames = after.frames - before.frames;
  const ms = (figure) => ((after[figure] - before[figure]) * 1_000) / frames;
  const measured = {
    marks: after.marks,
    'frames per second': (frames * 1_000) / (after.at - before.at),
    'script, ms per frame': ms('script'),
    'style and layout, ms per frame': ms('layout'),
    'all tasks of the main thread, ms per frame': ms('task'),
    'processor time of the renderer, ms per frame': ms('renderer'),
    'processor time of all of Chromium, ms per frame': ms('chromium'),
  };
  await page.close();
  return measured;
}

async function read(page, client) {
  const { metrics } = await client.send('Performance.getMetrics');
  const metric = Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
  const { processInfo } = await system.send('SystemInfo.getProcessInfo');
  const seconds = (type) =>
    processInfo.filter((one) => !type || one.type === type).reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  return {
    at: performance.now(),
    frames: await page.evaluate('frames()'),
    marks: Number(await page.evaluate("document.querySelector('canvas').dataset.marks ?? 0")),
    script: metric.ScriptDuration,
    layout: metric.LayoutDuration + metric.RecalcStyleDuration,
    task: metric.TaskDuration,
    renderer: seconds('renderer'),
    chromium: seconds(),
  };
}

function spread(figures) {
  const sorted = figures.toSorted((one, other) => one - other);
  const [min, median, max] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map((figure) =>
    Number(figure.toFixed(2)),
  );
  return { min, median, max };
}
