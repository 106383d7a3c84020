// Fails when a workflow uses an action by a name that its owner can move: each must have the hash of a
// commit, and the version as a comment.
import { readdirSync, readFileSync } from 'node:fs';

const PINNED = /^[\w.-]+\/[\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/;
const folder = new URL('../.github/workflows/', import.meta.url);
const uses = readdirSync(folder).flatMap((name) =>
  readFileSync(new URL(name, folder), 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const [, action] = /^\s*(?:-\s+)?uses:\s*(.*?)\s*$/.exec(line) ?? [];
      return action === undefined ? [] : [{ place: `${name}:${index + 1}`, action }];
    }),
);
const loose = uses.filter(({ action }) => !PINNED.test(action));
if (uses.length === 0 || loose.length > 0) {
  console.error(
    [
      'these actions are not pinned, as in owner/name@<commit> # v1.2.3:',
      ...loose.map(({ place, action }) => `${place} ${action}`),
    ].join('\n'),
  );
  process.exit(1);
}
console.log(`${uses.length} uses of actions are pinned`);
