import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommand } from '../../libs/session-auth-cli/src/run-command.js';
import type { Report } from '../../libs/session-auth-cli/src/doctor/report.js';
import { askGuard } from './ask-guard.js';
import { captureIo } from './captured-io.js';
import { ROWS, type Row } from './doctor-rows.js';
import { inLongForm } from '../support/long-form.js';
import { API_KEY, OddService, USER } from './odd-service.js';

const ENV = { SESSION_SERVICE_API_KEY: API_KEY, SESSION_SERVICE_PASSWORD: USER.password };
const TIMEOUT_MS = 2_500;
const CONCURRENCY = 8;

/** The results for one service. */
interface Trial {
  readonly code: number;
  readonly report: Report;
  readonly printed: string;
  readonly secrets: readonly string[];
  readonly open: number;
  readonly calls: number;
  readonly signIns: readonly (string | undefined)[];
  /** Statuses of the guard with the advised options. */
  readonly guard: readonly [user: number, junk: number];
}

/** Three times the slowest reply that the report names, in whole ms, in steps of 500 ms. */
function timeoutsFor({ checks }: Report): number[] {
  const text = checks.find(({ id }) => id === 'latency')?.text ?? '';
  const slowest = Math.max(...Array.from(text.matchAll(/(\d+) ms/g), ([, ms]) => Number(ms)));
  return [slowest - 0.5, slowest + 0.5].map((ms) => Math.ceil((3 * ms) / 500) * 500);
}

/** The tests share two processors: a service that has no habit may still be slow. */
function withoutLatency({ options }: Report): Report['options'] {
  const others = { ...options };
  delete others.timeoutMs;
  return others;
}

async function examine({ habits, urlOf = (url) => url }: Row): Promise<Trial> {
  const service = await OddService.start(habits);
  try {
    const io = captureIo(ENV);
    const args = [
      'doctor',
      '--url',
      urlOf(service.url),
      '--user',
      USER.username,
      '--json',
      '--timeout',
      String(TIMEOUT_MS),
    ];
    const code = await runCommand(args, io);
    const report = JSON.parse(io.out()) as Report;
    const open = service.sessions.size;
    const { calls } = service;
    const secrets = [
      API_KEY,
      USER.password,
      ...Array.from({ length: 3 }, (_, number) => habits.newToken?.(number) ?? `the-token-${number}`),
      'rotated-',
    ];
    const guard = await askGuard({ baseUrl: urlOf(service.url), ...report.options }, service.issue());
    return {
      code,
      report,
      printed: io.out() + io.err(),
      secrets,
      open,
      calls,
      signIns: service.signIns,
      guard,
    };
  } finally {
    await service.close();
  }
}

/** The services that are tried: in the short form, every third. */
const TRIED = ROWS.filter(
  (_row, index) => index % 3 === 0 || inLongForm('two thirds of the deviating services'),
);

describe('the doctor examines a service that', () => {
  const trials = new Map<string, Trial>();
  beforeAll(async () => {
    const rows = TRIED.values();
    const work = async (): Promise<void> => {
      for (const row of rows) trials.set(row.name, await examine(row));
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
  });
  afterAll(() => trials.clear());

  const idsOf = ({ checks }: Report, outcome: string): string[] =>
    checks.filter((check) => check.outcome === outcome).map(({ id }) => id);
  const warnsOf = (report: Report, expected: readonly string[]): string[] =>
    idsOf(report, 'warn')
      .filter((id) => id !== 'latency' || expected.includes(id))
      .sort();

  it.each(TRIED.map((row) => [row.name, row] as const))('%s', (name: string, row: Row) => {
    const { fails = [], warns = [], options = {}, guard, endsNoSession } = row;
    const trial = trials.get(name);
    if (!trial) throw new Error(`'${name}' was not examined`);
    const { report, printed, secrets, code } = trial;
    const { baseUrl = '', ...advised } = withoutLatency(report);
    expect({ fails: idsOf(report, 'fail').sort(), code }).toEqual({
      fails: [...fails].sort(),
      code: fails.length > 0 ? 1 : 0,
    });
    expect(idsOf(report, 'warn')).toEqual(expect.arrayContaining([...warns]));
    if (fails.length === 0)
      expect({ warns: warnsOf(report, warns), advised }).toEqual({
        warns: [...warns].sort(),
        advised: { statusMap: { 403: 'unavailable' }, ...options },
      });
    if (warns.includes('latency')) expect(timeoutsFor(report)).toContain(report.options.timeoutMs);
    if (guard || fails.length === 0) expect(trial.guard).toEqual(guard ?? [200, 401]);
    for (const secret of secrets) expect(printed).not.toContain(secret);
    if (!endsNoSession) expect(trial.open).toBe(0);
    expect(trial.calls).toBeLessThan(60);
    expect(trial.signIns.filter((username) => username === USER.username).length).toBeLessThanOrEqual(2);
    expect(baseUrl).toMatch(fails.length === 0 ? /^http/ : /^$/);
  });
});
