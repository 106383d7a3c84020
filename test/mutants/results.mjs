// RESULTS.md: each bug, and the tests that found it last.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGE = 'test/mutants/RESULTS.md';
const MAX_NAMED = 2;
const HEAD = `# Bugs, and the tests that find them

Each bug is a change of one source of the library, in [mutants.mjs](mutants.mjs) or in [bugs.mjs](../simulation/bugs.mjs). Written by
\`npm run test:mutants -- --record\`, which applies one at a time and runs its suites. The commit is the one that was tested.

| bug | file | tests that fail | commit | date |
| --- | ---- | --------------- | ------ | ---- |
`;

/** The commit whose sources are tested now: its name goes into the rows. */
export function testedCommit(root) {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain')
    .split('\n')
    .filter((line) => line !== '' && !line.endsWith(PAGE));
  if (changed.length > 0)
    throw new Error(`Commit first: the outcomes would be of no commit.\n${changed.join('\n')}`);
  return git('rev-parse', '--short=10', 'HEAD');
}

/** Whether the page names a test that finds this bug. */
export function hasFinder(root, { name }) {
  const line = rowsOf(root).get(cell(name));
  return line !== undefined && !line.includes('| **');
}

/**
 * Replaces the row of a bug that was tried, keeps those of the others, and drops those of bugs that are gone.
 */
export function record(root, bugs, { bug, kind, tests }, commit) {
  const rows = rowsOf(root);
  const date = new Date().toISOString().slice(0, 10);
  rows.set(cell(bug.name), row(bug, testsIn(kind, tests), commit, date));
  const lines = bugs.map(({ name }) => rows.get(cell(name))).filter(Boolean);
  writeFileSync(join(root, PAGE), `${HEAD}${lines.join('\n')}\n`);
}

function row({ name, file }, tests, commit, date) {
  return `| ${cell(name)} | ${file} | ${tests} | ${commit} | ${date} |`;
}

function testsIn(kind, tests) {
  if (kind !== 'found') return `**${cell(kind)}**`;
  const named = tests.slice(0, MAX_NAMED).map(cell).join('; ');
  return tests.length > MAX_NAMED ? `${named}; and ${tests.length - MAX_NAMED} more` : named;
}

function rowsOf(root) {
  const path = join(root, PAGE);
  const page = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const lines = page.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:bug|---)/.test(line));
  return new Map(lines.map((line) => [/^\| (.*?) \| /.exec(line)[1], line]));
}

function cell(text) {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[|<>*_]/g, (sign) => `\\${sign}`)
    .trim();
}
