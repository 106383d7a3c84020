// The code of the README and of docs/, block by block, as files.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** All pages, as paths within the tree. */
export const PAGES = [
  'README.md',
  'SECURITY.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'apps/demo/README.md',
  'apps/session-service/README.md',
  'bench/LIMITS.md',
  'libs/session-auth/SKILL.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/**
 * Every block of TypeScript, in the folder of its page. A block whose first line is the name of a file (`//
 * src/app.module.ts`) is that file, so that the blocks of a page find each other; one of JavaScript counts
 * only if it names its file.
 * @returns {{ file: string, code: string, language: 'js' | 'ts' }[]}
 */
export function codeBlocks() {
  const blocks = PAGES.flatMap(blocksOf);
  const files = new Set(blocks.map(({ file }) => file));
  const [twice] = blocks.map(({ file }) => file).filter((file) => !files.delete(file));
  if (twice) throw new Error(`${twice} occurs twice: a page names a file once`);
  if (blocks.length === 0) throw new Error('no code block was found');
  return blocks;
}

function blocksOf(page) {
  const folder = page.replace(/^docs\//, '').replace(/\.md$/, '');
  return [...fencesOf(page, 'ts|js')].flatMap(({ language, text }, index) => {
    const name = /^\/\/ (\S+\.m?[jt]s)\n/.exec(text)?.[1];
    if (!name && language === 'js') return [];
    return [{ language, file: join(folder, name ?? `block-${index + 1}.ts`), code: text }];
  });
}

/**
 * The TypeScript files of each program: a block that augments the types of the library changes them for its
 * whole program. That is its page if another block imports its file, and otherwise the block alone.
 * @returns {string[][]}
 */
export function programsOf(blocks) {
  const files = blocks.filter(({ language }) => language === 'ts').map(({ file }) => file);
  const augmenting = blocks
    .filter(({ code }) => /^declare module 'nestjs-session-auth'/m.test(code))
    .map(({ file }) => file);
  const separate = augmenting.map((file) => {
    const page = `${file.split('/')[0]}/`;
    const imported = `/${basename(file, '.ts')}.js'`;
    const isImported = blocks.some((block) => block.file.startsWith(page) && block.code.includes(imported));
    return isImported ? files.filter((other) => other.startsWith(page)) : [file];
  });
  return [files.filter((file) => !separate.flat().includes(file)), ...separate];
}

/** The fenced blocks of a page in these languages. */
export function fencesOf(page, languages) {
  const blocks = readFileSync(join(root, page), 'utf8').matchAll(
    new RegExp(`^\`\`\`(${languages})\n([\\s\\S]*?)^\`\`\`$`, 'gm'),
  );
  return [...blocks].map(([, language, text]) => ({ language, text }));
}
