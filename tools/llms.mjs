// The guides for programs that read text: llms.txt, an index, and llms-full.txt, all guides in one file.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPageFor, SITE_URL } from './links.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (page) => readFileSync(join(root, page), 'utf8');
const CONTENTS = 'docs/README.md';

/** Whether a page is an appendix, which is looked up and not read. */
export const isAppendix = (page) => /^docs\/(?:asvs|compatibility|faults|troubleshooting)\.md$/.test(page);

/** The guides, in the order of the table of contents. */
export function guides() {
  const pages = [...read(CONTENTS).matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => join('docs', name));
  return [...new Set(pages)];
}

/**
 * Returns the index. `urlOf` returns the address of a page as Markdown. The package has the titles alone; all
 * guides in one file, which are a quarter of its size, are on the site.
 */
export function indexOfGuides(urlOf, isOfSite) {
  const [, summary] = /^# .+\n+(.+)$/m.exec(read('README.md'));
  const line = (page) => {
    const [, title, opening] = /^# (.+)\n+(?:You need this )?([^]+?)(?:[.:](?=\s)|\n\n)/.exec(read(page));
    return `- [${title}](${urlOf(page)})${isOfSite ? `: ${textOf(opening)}` : ''}`;
  };
  return [
    '# nestjs-session-auth',
    `> ${summary}`,
    'SKILL.md of the package `nestjs-session-auth` is the short form of these guides.',
    `[llms-full.txt](${isOfSite ? '' : `${SITE_URL}/`}llms-full.txt) has all guides in one file.`,
    '## Guides',
    ['README.md', ...guides().filter((page) => !isAppendix(page))]
      .map((page) =>
        page === 'README.md' ? `- [README](${urlOf(page)}): install, guard a route, test it` : line(page),
      )
      .join('\n'),
    '## Optional',
    guides().filter(isAppendix).map(line).join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}

/** Returns all guides but the appendices, their tables without padding. */
export function allGuides() {
  const pages = ['README.md', 'libs/session-auth/SKILL.md', ...guides().filter((page) => !isAppendix(page))];
  return pages.map((page) => `<!-- ${page} -->\n\n${asMarkdown(page)}`).join('\n');
}

/** Returns a page without the padding of its tables. It links to the other pages of one folder, and to the repository. */
export function asMarkdown(page) {
  const held = ['README.md', CONTENTS, ...guides()];
  return readPageFor(page, { files: held, ref: 'main' })
    .replace(/^\|.*$/gm, (row) => row.replace(/ +/g, ' ').replace(/-{3,}/g, '---'))
    .replace(
      /(\]\()(?!\w+:|#)([^)#\s]+)/g,
      (_, before, target) => before + nameOf(join(dirname(page), target)),
    );
}

/** Returns the name of a page among the pages of one folder. */
export function nameOf(path) {
  if (path === CONTENTS) return 'guides.md';
  return path.startsWith('docs/') ? path.slice('docs/'.length) : path;
}

function textOf(markdown) {
  return markdown
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replace(/\*\*/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
