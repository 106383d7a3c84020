// The results of long runs, as files of one form: when a run was made, of which commit, with which seed,
// where, and what it found.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatMarkdown } from './markdown.mjs';

/**
 * Writes RESULTS.md into the folder of a runner, which passes its `import.meta.url`, and the commit at its
 * start.
 */
export async function recordRun(runner, { title, command, commit, seed, body }) {
  const page = fileURLToPath(new URL('RESULTS.md', runner));
  const stamp = [`${today()}, commit ${commit}`, ...(seed === undefined ? [] : [`seed ${seed}`])].join(', ');
  const text = `# ${title}

Written by \`${command}\`; not edited by hand.

- ${stamp}
- ${machine()}

${body}
`;
  writeFileSync(page, await formatMarkdown(text));
}

/** Returns the commit, and whether the library or the folder of the runner has changed since. */
export function commitOf(runner) {
  const cwd = dirname(fileURLToPath(runner));
  const git = (...args) => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
  const isChanged = git(
    'status',
    '--porcelain',
    '--',
    ':/libs/session-auth/src',
    '.',
    ':(exclude)RESULTS.md',
  );
  return `${git('rev-parse', '--short=10', 'HEAD')}${isChanged ? ' with changes' : ''}`;
}

export function today() {
  return new Date().toISOString().slice(0, 10);
}

export function machine() {
  return `${availableParallelism()} processors (${cpus()[0].model}), Node.js ${process.versions.node}`;
}
