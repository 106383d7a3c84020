// Builds the guides and the API reference into one static site, dist/site, with TypeDoc, and the guides as
// Markdown beside it. Fails on a broken link, and on a guide that the table of contents does not list.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPageFor, REPOSITORY_URL } from './links.mjs';
import { allGuides, asMarkdown, guides, indexOfGuides, nameOf } from './llms.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Copies of the pages, with front matter for TypeDoc. */
const copies = 'dist/site-pages';
const CONTENTS = 'docs/README.md';
const IMAGES = [
  'docs/images/page-dark.png',
  'docs/images/page-light.png',
  'docs/images/page-stampede.webp',
  'bench/results.svg',
  'bench/fleet-simulation/scaling.svg',
];

/** On a narrow screen, a table scrolls, and a long word breaks: the page does neither. */
const STYLE = `.col-content { min-width: 0; overflow-wrap: break-word; }
.tsd-member-summary-name { flex-wrap: wrap; }
.tsd-typography table { display: block; overflow-x: auto; }
.tsd-typography :not(pre) > code, .tsd-typography a { overflow-wrap: anywhere; }
.tsd-typography td code { overflow-wrap: normal; }
`;

const groups = new Map([
  [CONTENTS, 'Guides'],
  ...guidesInContents(),
  ['SECURITY.md', 'Project'],
  ['CHANGELOG.md', 'Project'],
]);
const place = { files: ['README.md', ...groups.keys(), ...IMAGES], ref: 'main' };

for (const folder of ['dist/site', copies]) rmSync(join(root, folder), { recursive: true, force: true });
for (const image of IMAGES) copyFileSync(join(root, image), copyOf(image));
// TypeDoc prints the name above it.
writeFileSync(copyOf('README.md'), readPageFor('README.md', place).replace(/^# .+\n/, ''));
for (const [page, group] of groups)
  writeFileSync(copyOf(page), withFrontMatter(readPageFor(page, place), group));
writeFileSync(copyOf('site.css'), STYLE);
writeFileSync(
  copyOf('typedoc.json'),
  JSON.stringify({
    extends: ['../../libs/session-auth/typedoc.json'],
    plugin: ['../../tools/search-words.mjs'],
    out: '../site',
    readme: 'README.md',
    projectDocuments: [...groups.keys()],
    sortEntryPoints: false,
    customCss: 'site.css',
    groupOrder: [...new Set(groups.values()), '*'],
    navigation: { includeGroups: true },
    // Names that an application calls stand above their types.
    searchGroupBoosts: { Interfaces: 0.5, Properties: 0.5, 'Type Aliases': 0.5 },
    searchInComments: true,
    searchInDocuments: true,
    // TypeDoc's list, Docker and SQL.
    highlightLanguages: [
      'bash',
      'console',
      'css',
      'docker',
      'html',
      'javascript',
      'json',
      'jsonc',
      'nginx',
      'json5',
      'yaml',
      'tsx',
      'typescript',
      'sql',
    ],
    navigationLinks: { GitHub: REPOSITORY_URL },
  }),
);
execFileSync('npx', ['typedoc', '--options', `${copies}/typedoc.json`, '--logLevel', 'Warn'], {
  cwd: root,
  stdio: 'inherit',
});
writeMarkdown();
console.log(`dist/site/index.html: ${groups.size} documents and the API reference`);

/** The guides for programs that read text: an index, all guides in one file, and each page. */
function writeMarkdown() {
  const site = join(root, 'dist/site');
  mkdirSync(join(site, 'markdown'));
  for (const page of ['README.md', CONTENTS, ...guides()])
    writeFileSync(join(site, 'markdown', nameOf(page)), asMarkdown(page));
  writeFileSync(
    join(site, 'llms.txt'),
    indexOfGuides((page) => `markdown/${nameOf(page)}`, true),
  );
  writeFileSync(join(site, 'llms-full.txt'), allGuides());
}

/** The guides in the order of the table of contents, each with the bold heading above it. */
function guidesInContents() {
  const guides = new Map();
  let group;
  for (const row of readFileSync(join(root, CONTENTS), 'utf8').split('\n')) {
    group = /^\| \*\*(.+)\*\*/.exec(row)?.[1] ?? group;
    for (const [, name] of row.matchAll(/\]\(([\w-]+\.md)\)/g)) guides.set(`docs/${name}`, group);
  }
  const pages = readdirSync(join(root, 'docs')).map((name) => `docs/${name}`);
  const unlisted = pages.filter((page) => page.endsWith('.md') && page !== CONTENTS && !guides.has(page));
  if (unlisted.length > 0) throw new Error(`${CONTENTS} does not list ${unlisted.join(', ')}`);
  return guides;
}

function copyOf(page) {
  const path = join(root, copies, page);
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

/** The title of the page is its name in the navigation. */
function withFrontMatter(text, group) {
  const [, title] = /^# (.+)$/m.exec(text);
  return `---\ntitle: ${JSON.stringify(title)}\ngroup: ${JSON.stringify(group)}\n---\n\n${text}`;
}
