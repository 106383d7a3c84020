// Every link of a page to another page leads to a file and a heading that exist.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PAGES } from './code-blocks.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (page) => readFileSync(join(root, page), 'utf8');
const links = PAGES.flatMap((page) =>
  [...read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link]) => ({ page, link })),
);
const dead = links
  .filter(({ page, link }) => !leadsSomewhere(page, link))
  .map(({ page, link }) => `${page}: ${link}`);

if (links.length === 0) throw new Error('no link was found: the check checks nothing');
if (dead.length > 0) throw new Error(`links that lead nowhere:\n${dead.join('\n')}`);
console.log(`${links.length} links of the documentation lead somewhere`);

function leadsSomewhere(page, link) {
  const [path, heading] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  return existsSync(join(root, target)) && (heading === undefined || headingsOf(target).includes(heading));
}

/** As GitHub makes them. */
function headingsOf(page) {
  const titles = [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, title]) => title);
  return titles.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replace(/\s/g, '-'),
  );
}
