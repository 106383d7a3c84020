// Checks docs/asvs.md: it lists every requirement of the chosen sections of OWASP ASVS 5.0.0 once, with its
// level; each that is met names a test; and each test that it names is there, by that name.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const PAGE = new URL('../docs/asvs.md', import.meta.url);
/** The levels of the requirements of each section, in their order. */
const SECTIONS = {
  3.5: '11122333',
  6.3: '11223333',
  7.1: '222',
  7.2: '1111',
  7.3: '22',
  7.4: '11222',
  7.5: '223',
  7.6: '22',
  8.1: '1233',
  8.2: '1123',
  8.3: '133',
  8.4: '23',
  16.1: '2',
  16.2: '22222',
  16.3: '2222',
  16.4: '222',
  16.5: '2223',
};
/** Requirements that features meet which are not built yet, so that their tests are not linked. */
const OPEN = new Set([]);
const OUTCOMES = ['By default', 'With one line', 'Out of scope'];

const ROW = /^\| (\d+\.\d+\.\d+), level (\d) +\| .*? \| \*\*(.*?)[.:]\*\*.*? \| (.*) \|$/gm;
const LINK = /\[((?:\\.|[^\]\\]|\[\w+\])+)\]\((\.\.\/test\/[^)]+)\)/g;
/** Calls that declare a test by its name: those of Jest, and those of test/support/trial/row.ts. */
const TEST = /^(?:it|test|row|rows)$/;

const titlesOfFile = new Map();
const rows = [...readFileSync(PAGE, 'utf8').matchAll(ROW)].map(([, id, level, outcome, tests]) => ({
  id,
  level,
  outcome,
  tests,
}));
const required = Object.entries(SECTIONS).flatMap(([section, levels]) =>
  [...levels].map((level, index) => `${section}.${index + 1}, level ${level}`),
);
const listed = rows.map(({ id, level }) => `${id}, level ${level}`);
const faults = [
  ...required
    .filter((id) => listed.filter((row) => row === id).length !== 1)
    .map((id) => `${id} must have one row`),
  ...listed.filter((id) => !required.includes(id)).map((id) => `${id} is no requirement of these sections`),
  ...rows.flatMap(faultsOf),
];
if (faults.length > 0) {
  console.error(`docs/asvs.md:\n${faults.join('\n')}`);
  process.exit(1);
}
const counts = OUTCOMES.map(
  (outcome) => `${rows.filter((row) => row.outcome === outcome).length} ${outcome.toLowerCase()}`,
);
console.log(
  `docs/asvs.md lists ${rows.length} requirements (${counts.join(', ')}), and the tests that it names are there`,
);

function faultsOf({ id, outcome, tests }) {
  if (!OUTCOMES.includes(outcome)) return [`${id} must begin with one of: ${OUTCOMES.join(', ')}`];
  const links = [...tests.matchAll(LINK)];
  if (links.length === 0 && outcome !== 'Out of scope' && !OPEN.has(id))
    return [`${id} is met, and names no test`];
  return links
    .filter(([, title, path]) => !names(path, plain(title)))
    .map(([, title, path]) => `${id} names no test of ${path}: ${title}`);
}

/**
 * Returns whether a file has a test of this name, or one that begins so if the name ends with ` …`. The names
 * of the suites around it may precede it.
 */
function names(path, title) {
  const file = fileURLToPath(new URL(path, PAGE));
  if (!titlesOfFile.has(file)) titlesOfFile.set(file, existsSync(file) ? titlesIn(file) : []);
  const titles = titlesOfFile.get(file);
  if (title.endsWith(' …')) {
    const beginning = title.slice(0, -1);
    return titles.some((full) => full.startsWith(beginning) || full.includes(` › ${beginning}`));
  }
  return titles.some((full) => full === title || full.endsWith(` › ${title}`));
}

/** The names of all tests of a file, each after those of its suites. */
function titlesIn(file) {
  const titles = [];
  const visit = (node, suites) => {
    const title =
      ts.isCallExpression(node) && node.arguments.slice(1).some(isBody)
        ? textOf(node.arguments[0])
        : undefined;
    const path = title === undefined ? suites : [...suites, title];
    if (title !== undefined && TEST.test(calledBy(node))) titles.push(path.join(' › '));
    ts.forEachChild(node, (child) => visit(child, path));
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true), []);
  return titles;
}

/** A function, or a call that returns one, such as `steady()`. */
function isBody(node) {
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node) || ts.isCallExpression(node);
}

/** `it` of `it.each(cases)(…)`. */
function calledBy({ expression }) {
  if (ts.isCallExpression(expression) || ts.isPropertyAccessExpression(expression))
    return calledBy(expression);
  return expression.getText();
}

/**
 * Returns a name as the page has it: with `…` for the part that differs from case to case, and without the
 * platform of a suite.
 */
function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text.replace(/,? on %s$/, '').replace(/%[spjio]/g, '…');
  if (ts.isTemplateExpression(node))
    return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…');
  return undefined;
}

function plain(markdown) {
  return markdown.replace(/\\(.)/g, '$1').replace(/`/g, '');
}
