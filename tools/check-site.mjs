// Checks the built site, dist/site: each link leads to a file and a heading that exist; in a browser, no page
// scrolls sideways at 360 px, the search finds what its users look for, and the site has a dark mode. Needs Chromium
// (/usr/bin/chromium, or CHROMIUM); without it, only the links are checked, unless REQUIRE_SERVICES is 1.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const site = fileURLToPath(new URL('../dist/site/', import.meta.url));
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const NARROW = { width: 360, height: 740 };
/** Words that an engineer types, and the page that is among the first results of each. */
const SEARCHES = new Map([
  ['current user', 'functions/index.CurrentUser.html'],
  ['roles', 'documents/Roles_and_scopes.html'],
  ['redis', 'documents/Redis_setups.html'],
  ['RedisSessionStore', 'classes/redis.RedisSessionStore.html'],
  ['503', 'documents/Troubleshooting.html'],
  ['websocket', 'documents/WebSockets.html'],
  ['test guard', 'documents/Testing.html'],
  ['sign out', 'classes/index.SessionAuthService.html#signout'],
  ['logout', 'documents/Quick_start.html'],
  ['timeout', 'interfaces/index.SessionAuthOptions.html#timeoutms'],
  ['multiple services', 'documents/Several_session_services.html'],
]);
const FIRST_RESULTS = 3;

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
  await checkWidths(await browser.newPage({ viewport: NARROW, javaScriptEnabled: false }));
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, colorScheme: 'dark' });
  await page.goto(urlOf('index.html'));
  const background = await page.evaluate(
    () => globalThis.getComputedStyle(globalThis.document.body).backgroundColor,
  );
  const [red = 255] = /\d+/.exec(background)?.map(Number) ?? [];
  if (red > 100) problems.push(`the site is bright in dark mode: ${background}`);
  await checkSearches(page);
  await browser.close();
}

/** Scripts do not change the width, and take half of the time. */
async function checkWidths(page) {
  for (const name of pages) {
    await page.goto(urlOf(name));
    const width = await page.evaluate(() => globalThis.document.documentElement.scrollWidth);
    if (width > NARROW.width) problems.push(`${name} is ${width} px wide on a screen of ${NARROW.width} px`);
  }
}

async function checkSearches(page) {
  const results = page.locator('#tsd-search-results li');
  await page.locator('#tsd-search-trigger').click();
  for (const [words, target] of SEARCHES) {
    await page.locator('#tsd-search-input').fill('');
    await results.first().waitFor({ state: 'detached' });
    await page.locator('#tsd-search-input').fill(words);
    await page
      .locator(`#tsd-search-results li:nth-child(-n + ${FIRST_RESULTS}) a[href$="${target}"]`)
      .waitFor({ timeout: 10_000 })
      .catch(() =>
        problems.push(`"${words}" does not find ${target} among the first ${FIRST_RESULTS} results`),
      );
  }
}

function urlOf(name) {
  return pathToFileURL(join(site, name)).href;
}
