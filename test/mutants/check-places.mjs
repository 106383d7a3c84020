// Checks that each deliberate bug has its place in the sources, and its suites: a run of all of them takes too
// long to notice it early.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BUGS } from '../simulation/bugs.mjs';
import { MUTANTS } from './mutants.mjs';
import { splitAt } from './places.mjs';

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const sourceOf = (file) =>
  existsSync(at(`libs/session-auth/src/${file}`))
    ? readFileSync(at(`libs/session-auth/src/${file}`), 'utf8')
    : '';
const isSuite = (suite) =>
  existsSync(at(`test/${suite}.e2e-spec.ts`)) || existsSync(at(`libs/session-auth/src/${suite}.spec.ts`));

const bugs = [...MUTANTS, ...BUGS];
const names = new Set(bugs.map(({ name }) => name));
const problemsOfBugs = bugs.flatMap(({ name, file, find, suites }) => [
  ...(splitAt(sourceOf(file), find).length === 2 ? [] : [`${name}: its place is not once in ${file}`]),
  ...suites.filter((suite) => !isSuite(suite)).map((suite) => `${name}: there is no suite ${suite}`),
]);
const problems = [...problemsOfBugs, ...(names.size < bugs.length ? ['two bugs have the same name'] : [])];
for (const problem of problems) console.error(problem);
console.log(`${bugs.length} deliberate bugs, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;
