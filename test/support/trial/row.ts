import { expect, it } from '@jest/globals';
import { json } from 'nestjs-session-auth/testing';
import type { Platform } from '../platforms.js';
import { canariesIn, everythingOf, TOKEN } from './canaries.js';
import { ANN, Trial, type Answer, type TrialSetup } from './trial.js';

/** The allowed delay of a reply beyond the total time, without the stalls of the process. */
const ALLOWED_MS = 250;
const UNGUARDED = ['/pub', '/open', '/login', '/logout'];

/**
 * Tests one row of the catalogue (docs/faults.md), and the conditions that every row implies. The name ends
 * with the tag of the row: `[B03]`. A row that needs no application, or one of its own, is a plain `it`.
 */
export type Row = (name: string, body: (trial: Trial) => Promise<void>, setup?: TrialSetup) => void;

/** The rows on one platform. Call it inside `describe`. */
export function rowsOn(platform: Platform): Row {
  return (name, body, setup = {}) =>
    it(name, async () => {
      const trial = await Trial.start(platform, setup);
      try {
        await body(trial);
        await expectRecovery(trial, setup);
        expectWhatIsImplied(trial);
      } finally {
        await trial.close();
      }
    });
}

/** After the fault, the next good request gets 200. */
async function expectRecovery(trial: Trial, { recover }: TrialSetup): Promise<void> {
  if (recover === false) return;
  trial.service.on('user_details', json(ANN));
  await recover?.(trial);
  expect(await trial.status({ token: `${TOKEN}-next` })).toBe(200);
}

function expectWhatIsImplied({
  answers,
  errors,
  log,
  printed,
  runs,
  abandoned,
  timeoutMs,
  readsHeader,
}: Trial): void {
  for (const answer of answers) expectHeaders(answer, readsHeader);
  expect(answers.filter(({ tookMs, stalledMs }) => tookMs - stalledMs > timeoutMs + ALLOWED_MS)).toEqual([]);
  const passed = answers.filter(({ status, path }) => status === 200 && isGuarded(path)).length;
  expect(runs.count).toBeGreaterThanOrEqual(passed);
  expect(runs.count).toBeLessThanOrEqual(passed + abandoned);
  const replies = answers.map(({ status, headers, body }) => `${status} ${[...headers].join('\n')}\n${body}`);
  expect(
    canariesIn([...replies, ...log.lines, ...printed.texts, ...errors.map(everythingOf)].join('\n')),
  ).toEqual([]);
}

function expectHeaders({ path, status, headers }: Answer, readsHeader: boolean): void {
  const varies = readsHeader && isGuarded(path) && [200, 401, 403, 503].includes(status);
  if (varies) expect(headers.get('vary')?.toLowerCase()).toContain('x-auth-token');
  if ([401, 403, 503].includes(status) || (status === 200 && isGuarded(path)))
    expect(headers.get('cache-control')).toBe('no-store');
  if (status === 503) expect(headers.get('retry-after')).toMatch(/^([1-9]|[1-9]\d|1[01]\d|120)$/);
  expect(headers.has('www-authenticate')).toBe(status === 401);
  expect(status).not.toBe(500);
}

function isGuarded(path: string): boolean {
  return !UNGUARDED.includes(path.split('?')[0] ?? path);
}
