import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { askGuard } from './ask-guard.js';
import { type DoctorRun, runDoctor } from './doctor-run.js';
import { ROWS, type Row } from './doctor-rows.js';
import { inLongForm } from '../support/long-form.js';
import { API_KEY, OddService, USER } from './odd-service.js';

const CONCURRENCY = 8;

/** The results for one service. */
interface Trial {
  readonly report: DoctorRun;
  readonly secrets: readonly string[];
  readonly open: number;
  readonly calls: number;
  readonly signIns: readonly (string | undefined)[];
  /** Statuses of the guard with the advised options. */
  readonly guard: readonly [user: number, junk: number];
}

/** Three times the slowest reply that the report names, in whole ms, in steps of 500 ms. */
function timeoutsFor({ textOf }: DoctorRun): number[] {
  const times = Array.from((textOf('latency') ?? '').matchAll(/(\d+) ms/g), ([, ms]) => Number(ms));
  const slowest = Math.max(...times);
  return [slowest - 0.5, slowest + 0.5].map((ms) => Math.ceil((3 * ms) / 500) * 500);
}

async function examine(row: Row): Promise<Trial> {
  const { newToken, urlOf = (url) => url } = row;
  const service = await OddService.start(row);
  try {
    const report = await runDoctor(urlOf(service.url), ['--user', USER.username, '--timeout', '2500']);
    const open = service.sessions.size;
    const { calls, signIns } = service;
    const secrets = [
      API_KEY,
      USER.password,
      ...Array.from({ length: 3 }, (_, number) => newToken?.(number) ?? `the-token-${number}`),
      'rotated-',
    ];
    const guard = await askGuard({ baseUrl: urlOf(service.url), ...report.options }, service.issue());
    return { report, secrets, open, calls, signIns, guard };
  } finally {
    await service.close();
  }
}

/** The services that are tried: in the short form, every second. */
const TRIED = ROWS.filter((_row, index) => index % 2 === 0 || inLongForm('half of the deviating services'));

const BY_LOAD: ReadonlySet<string> = new Set(['latency', 'connection']);

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

  it.each(TRIED.map((row) => [row.name, row] as const))('%s', (name: string, row: Row) => {
    const { fails = [], warns = [], options = {}, guard, endsNoSession } = row;
    const trial = trials.get(name);
    if (!trial) throw new Error(`'${name}' was not examined`);
    const { report, secrets } = trial;
    const { code, idsOf, printed } = report;
    // The tests share two processors: a service that has no habit may still be slow, or answer too late.
    const { baseUrl = '', timeoutMs, ...advised } = report.options;
    const warned = idsOf('warn').filter((id) => !BY_LOAD.has(id) || warns.includes(id));
    expect({ fails: idsOf('fail').sort(), code }).toEqual({
      fails: [...fails].sort(),
      code: fails.length > 0 ? 1 : 0,
    });
    expect(warned).toEqual(expect.arrayContaining([...warns]));
    if (fails.length === 0)
      expect({ warns: warned.sort(), advised }).toEqual({
        warns: [...warns].sort(),
        advised: { statusMap: { 403: 'unavailable' }, ...options },
      });
    if (warns.includes('latency')) expect(timeoutsFor(report)).toContain(timeoutMs);
    expect(trial.guard).toEqual(guard ?? (fails.length > 0 ? [503, 503] : [200, 401]));
    for (const secret of secrets) expect(printed).not.toContain(secret);
    if (!endsNoSession) expect(trial.open).toBe(0);
    expect(trial.calls).toBeLessThan(60);
    expect(trial.signIns.filter((username) => username === USER.username).length).toBeLessThanOrEqual(2);
    expect(baseUrl).toMatch(fails.length === 0 ? /^http/ : /^$/);
  });
});
