import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { NOT_MODELLED, RULES } from './bugs.js';
import { SHORT_SCOPES } from './scopes.js';

const PROGRAM = fileURLToPath(new URL('run.mjs', import.meta.url));
const BUGS = fileURLToPath(new URL('../simulation/bugs.mjs', import.meta.url));

/** Runs the model as `npm run test:model` does. Returns its output. */
function run(...args: readonly string[]): Promise<string> {
  return new Promise((resolve) => execFile(process.execPath, [PROGRAM, ...args], (_error, output, errors) => resolve(output + errors)));
}

describe('the model of the session cache', () => {
  let output = '';
  let bugs = '';
  beforeAll(async () => {
    [output, bugs] = await Promise.all([run('--short'), run('--bugs')]);
  });

  it.each(SHORT_SCOPES.map(({ name }) => name))('keeps every promise in every state of: %s', (name) => {
    const [, states] = new RegExp(`^${name} \\(.*\\): (\\d+) states, \\d+ transitions, depth \\d+, complete`, 'm').exec(output) ?? [
      output,
      0,
    ];
    expect(Number(states)).toBeGreaterThan(1_000);
  });

  it.each(Object.keys(RULES))('breaks a promise with a deliberate bug: %s', (name) => {
    expect(bugs).toMatch(new RegExp(`^${name}: \\d+ actions, then (revoked|lifetime|delivery): `, 'm'));
  });

  it('has a rule for each deliberate bug of the simulation in what it models', () => {
    const names = [...readFileSync(BUGS, 'utf8').matchAll(/^ {4}name: '(.*)',$/gm)].map(([, name]) => name).sort();
    expect([...Object.keys(RULES), ...NOT_MODELLED].sort()).toEqual(names);
  });
});
