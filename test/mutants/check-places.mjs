// Checks that each deliberate bug has its place in the sources, and its suites, and each equivalent mutant
// its code: a run of all of them takes too long to notice it early.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EQUIVALENT } from '../mutation/equivalent.mjs';
import { namesIn, offsetsOf, splitAt } from '../mutation/places.mjs';
import { BUGS } from '../simulation/bugs.mjs';
import { MUTANTS } from './mutants.mjs';

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
const goneMutants = EQUIVALENT.filter(({ file, where, original, count }) => {
  const [text, namesAt] = [sourceOf(file), namesIn(sourceOf(file))];
  return (
    offsetsOf(text, original).filter((offset) => where === '' || namesAt(offset).includes(where)).length <
    count
  );
});
const problems = [
  ...problemsOfBugs,
  ...(names.size < bugs.length ? ['two bugs have the same name'] : []),
  ...goneMutants.map(
    ({ file, where, original }) => `test/mutation/equivalent.mjs: ${file}, ${where} has no ${original}`,
  ),
];
for (const problem of problems) console.error(problem);
console.log(
  `${bugs.length} deliberate bugs, ${EQUIVALENT.length} equivalent mutants, ${problems.length} problems`,
);
if (problems.length > 0) process.exitCode = 1;
