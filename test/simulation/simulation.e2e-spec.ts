import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { inLongForm } from '../support/long-form.js';

const PROGRAM = fileURLToPath(new URL('run.mjs', import.meta.url));
const HISTORIES = inLongForm('49,000 of 50,000 histories') ? 50_000 : 1_000;
/** While other tests run, the machine plays a tenth of the histories per second that it plays otherwise. */
const PATIENCE_MS = HISTORIES > 1_000 ? 600_000 : 120_000;

interface Played {
  readonly exitCode: number;
  readonly output: string;
}

/** Runs the simulation as `npm run test:simulation` does. */
function play(settings: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Played> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [PROGRAM, ...args],
      { env: { ...process.env, ...settings } },
      (_error, output, errors) => resolve({ exitCode: child.exitCode ?? 1, output: output + errors }),
    );
  });
}

describe('a fleet under one seeded scheduler', () => {
  it(
    `keeps every documented bound in ${HISTORIES} histories of failures and races`,
    async () => {
      const { exitCode, output } = await play({ SIMULATION_HISTORIES: String(HISTORIES) });
      // The output names the seed that replays a violation.
      expect(exitCode === 0 ? '' : output).toBe('');
      expect(output).toMatch(new RegExp(`^${HISTORIES} histories, seeds 1 to ${HISTORIES}, `, 'm'));
    },
    PATIENCE_MS,
  );

  it('plays the same history for the same seed', async () => {
    const played = await Promise.all([1, 2].map(() => play({ SIMULATION_SEED: '20' })));
    const [hash, again] = played.map(({ output }) => /^trace ([0-9a-f]{64})$/m.exec(output)?.[1]);
    expect(hash).toBeDefined();
    expect(again).toBe(hash);
  });

  it.each([
    'The answer of the service does not reach the store',
    'A request keeps its check after a revocation',
    'An instance that closes drops what is pending',
  ])(
    'finds a deliberate bug: %s',
    async (bug) => {
      const { exitCode, output } = await play({ SIMULATION_BUG: bug }, '--bugs');
      expect(output).toMatch(`${bug}: found by history `);
      expect(exitCode).toBe(0);
    },
    PATIENCE_MS,
  );
});
