// Checks the built site, dist/site: each link leads to a file and a heading that exist; in a browser, no guide
// scrolls sideways at 360 px, the search finds an option, and the site has a dark mode. Needs Chromium
// (/usr/bin/chromium, or CHROMIUM); without it, only the links are checked, unless REQUIRE_SERVICES is 1.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const site = fileURLToPath(new URL('../dist/site/', import.meta.url));
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const NARROW = { width: 360, height: 740 };

const pages = readdirSync(site, { recursive: true }).filter((name) => name.endsWith('.html'));
const texts = new Map(pages.map((page) => [page, readFileSync(join(site, page), 'utf8')]));
const links = pages.flatMap((page) =>
  [...texts.get(page).matchAll(/\s(?:href|src)="(?!\w+:|\/\/)([^"]+)"/g)].map(([, link]) => ({
    page,
    link: decodeURIComponent(link.replaceAll('&amp;', '&')),
  })),
);
const problems = links
  .filter(({ page, link }) => !leadsSomewhere(page, link))
  .map(({ page, link }) => `${page} links to ${link}, which is not there`);
if (links.length === 0) problems.push('no link was found: the check checks nothing');

if (existsSync(EXECUTABLE)) await checkInBrowser();
else if (process.env.REQUIRE_SERVICES === '1') problems.push(`${EXECUTABLE} is not installed`);
else console.log(`${EXECUTABLE} is not installed: the site was not opened`);

if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
console.log(`${links.length} links of ${pages.length} pages of the site lead somewhere`);

function leadsSomewhere(page, link) {
  const [path, heading] = link.split('#');
  const target = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(join(site, target))) return false;
  return !heading || !texts.has(target) || texts.get(target).includes(`id="${heading}"`);
}

async function checkInBrowser() {
  const args = ['--no-sandbox', '--allow-file-access-from-files'];
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args });
  const page = await browser.newPage({ viewport: NARROW, colorScheme: 'dark' });
  for (const name of pages.filter((path) => path === 'index.html' || path.startsWith('documents/'))) {
    await page.goto(pathToFileURL(join(site, name)).href);
    const width = await page.evaluate(() => globalThis.document.documentElement.scrollWidth);
    if (width > NARROW.width) problems.push(`${name} is ${width} px wide on a screen of ${NARROW.width} px`);
  }
  await page.goto(pathToFileURL(join(site, 'index.html')).href);
  const background = await page.evaluate(
    () => globalThis.getComputedStyle(globalThis.document.body).backgroundColor,
  );
  const [red = 255] = /\d+/.exec(background)?.map(Number) ?? [];
  if (red > 100) problems.push(`the site is bright in dark mode: ${background}`);
  await page.setViewportSize({ width: 1200, height: 800 });
  await page.locator('#tsd-search-trigger').click();
  await page.locator('#tsd-search-input').fill('RedisSessionStore');
  const found = page.locator('#tsd-search-results li').first();
  await found
    .waitFor({ timeout: 10_000 })
    .catch(() => problems.push('the search finds no RedisSessionStore'));
  await browser.close();
}
