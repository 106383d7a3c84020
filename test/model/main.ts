import { bugOf, type Bug } from './bugs.js';
import { BUG_SCOPES, SCOPES, SHORT_SCOPES, withBug } from './scopes.js';
import { search, type Search } from './search.js';

const [, , mode = ''] = process.argv;

if (mode === '--bugs') (Object.keys(BUG_SCOPES) as Bug[]).filter((bug) => isWanted(bugOf(bug))).forEach(findBug);
else (mode === '--short' ? SHORT_SCOPES : SCOPES).filter(({ name }) => isWanted(name)).forEach(visit);

/** `MODEL` selects a scope, or a bug, by its name. */
function isWanted(name: string): boolean {
  return process.env.MODEL === undefined || process.env.MODEL === name;
}

/** Visits every state of a scope, and prints how many there are, or how a promise is broken. */
function visit(scope: Search): void {
  const { states, transitions, depth, counterexample, isComplete, seconds } = timed(scope);
  const { flights, faults, signIns, ticks } = scope.budget;
  const size = `2 instances, ${scope.scope.users.length} tokens, ${faults} faults, ${flights} flights, ${signIns} sign-ins, ${ticks} ticks`;
  console.log(
    `${scope.name} (${size}): ${states} states, ${transitions} transitions, depth ${depth}, ${isComplete ? 'complete' : 'NOT COMPLETE'}, ${seconds} s`,
  );
  if (isComplete) return;
  process.exitCode = 1;
  console.log(`  ${counterexample?.join('\n  ') ?? ''}`);
}

function findBug(bug: Bug): void {
  const { states, counterexample, seconds } = timed(withBug(bug));
  if (!counterexample) process.exitCode = 1;
  const found = counterexample ? `${counterexample.length - 1} actions, then ${counterexample.at(-1) ?? ''}` : 'NOT FOUND';
  console.log(`${bugOf(bug)}: ${found} (${states} states, ${seconds} s)`);
  if (process.argv.includes('--show')) console.log(`  ${counterexample?.join('\n  ') ?? ''}`);
}

function timed(scope: Search): ReturnType<typeof search> & { readonly seconds: string } {
  const began = performance.now();
  const searched = search(scope);
  return { ...searched, seconds: ((performance.now() - began) / 1_000).toFixed(1) };
}
