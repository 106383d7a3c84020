import { setTimeout as delay } from 'node:timers/promises';
import { Application } from './application.js';
import type { Usage } from './application.process.js';
import { Faults } from './faults.js';
import { Figures, mebibytes, printTable } from './figures.js';
import { Inspection } from './inspection.js';
import { Ledger } from './ledger.js';
import { Load } from './load.js';
import { RedisServer } from './redis-server.js';
import { SeededRandom } from './seeded-random.js';
import { SessionService } from './session-service.js';
import { APPLICATIONS, MAX_IDLE_MS, MAX_SERVICE_SOCKETS, maxHeapGain, TOKEN_PREFIX } from './settings.js';
import { Stalls } from './stalls.js';
import { Violations } from './violations.js';
import { Visitors } from './visitors.js';
import { Weather } from './weather.js';

export const MINUTES = Number(process.env.SOAK_MINUTES ?? 2);
export const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 2 ** 31);
export const REQUESTS_PER_SECOND = Number(process.env.SOAK_RATE ?? 240);
const PROBER = `${TOKEN_PREFIX}user-0.prober`;

const random = new SeededRandom(SEED);
const violations = new Violations();
const figures = new Figures();
const ledger = new Ledger();
const weather = new Weather();
const inspection = new Inspection(ledger, weather, figures, violations);
const stalls = new Stalls();
const service = new SessionService(ledger, stalls);

/** Returns what the applications have in use when no request is in flight. */
async function usageAtRest(applications: readonly Application[], load: Load): Promise<Usage[]> {
  await load.pause();
  return Promise.all(applications.map((application) => application.usage()));
}

/** Sockets that are left when the load is over: none may be, on either side. */
async function socketsLeft(applications: readonly Application[]): Promise<number> {
  for (const { client } of applications) client.close();
  const until = performance.now() + MAX_IDLE_MS;
  for (;;) {
    const usages = await Promise.all(applications.map((application) => application.usage()));
    const left = usages.reduce(
      (sum, { sockets, watched }) => sum + sockets + watched,
      await service.openSockets(),
    );
    if (left === 0 || performance.now() > until) return left;
    await delay(100);
  }
}

async function stopAll(applications: readonly Application[]): Promise<void> {
  for (const application of applications) {
    violations.unless(await application.stops(), 'a process that does not end by itself', application.name);
  }
  violations.unless(await service.stops(), 'a process that does not end by itself', 'the session service');
}

function compare(warm: readonly Usage[], last: readonly Usage[]): (readonly [string, string])[] {
  return APPLICATIONS.flatMap((name, place) => {
    const [before, after] = [warm[place], last[place]];
    if (!before || !after) return [];
    const gain = after.heapBytes - before.heapBytes;
    violations.unless(gain <= maxHeapGain(name), 'a heap that grows', `${name}: ${mebibytes(gain)} MiB`);
    violations.unless(
      after.mostToService <= MAX_SERVICE_SOCKETS,
      'too many sockets to the service',
      `${name}: ${after.mostToService}`,
    );
    violations.unless(
      after.warnings.length === 0,
      'a warning of Node',
      `${name}: ${after.warnings.join(' ')}`,
    );
    return [
      [
        `${name}: heap after warm-up, at the end, MiB`,
        `${mebibytes(before.heapBytes)}, ${mebibytes(after.heapBytes)}`,
      ],
      [`${name}: resident set, MiB`, `${mebibytes(before.rssBytes)}, ${mebibytes(after.rssBytes)}`],
      [
        `${name}: sockets to the service at most, then and since, of`,
        `${before.mostToService}, ${after.mostToService}, ${MAX_SERVICE_SOCKETS}`,
      ],
    ] as const;
  });
}

console.log(`soak: SOAK_SEED=${SEED} SOAK_MINUTES=${MINUTES} SOAK_RATE=${REQUESTS_PER_SECOND}`);
const end = performance.now() + MINUTES * 60_000;
ledger.begin(PROBER, 'user-0');
await service.start();
const redis = await RedisServer.start();
const surroundings = { baseUrl: service.url, redisPort: redis.port, stalls, violations };
const applications = await Promise.all(APPLICATIONS.map((name) => Application.start(name, surroundings)));
const load = new Load(
  new Visitors(ledger, service, inspection, random),
  applications,
  random,
  REQUESTS_PER_SECOND,
);
const faults = new Faults({
  service,
  applications,
  token: PROBER,
  weather,
  inspection,
  violations,
  stalls,
  random,
});

weather.recovered();
load.start();
await faults.round();
const warm = await usageAtRest(applications, load);
load.start();
while (performance.now() < end) await faults.round(end);
const last = await usageAtRest(applications, load);
const left = await socketsLeft(applications);
await stopAll(applications);
await redis.stop();

const usageRows = compare(warm, last);
violations.unless(left === 0, 'sockets that stay open', String(left));
violations.unless(figures.faults.sum > 0 && figures.replies.sum > 0, 'a soak that tried nothing', '');
export const rows: readonly (readonly [string, string | number])[] = [
  ['requests', `${figures.requests.sum} (${String(figures.requests)})`],
  ['replies', String(figures.replies)],
  ['sessions', String(figures.sessions)],
  ['faults', `${figures.faults.sum} (${String(figures.faults)})`],
  ...usageRows,
  ['sockets left when the load is over', left],
  [
    'worst reply, worst recovery, ms',
    `${Math.round(figures.worstReplyMs)}, ${Math.round(figures.worstRecoveryMs)}`,
  ],
  ['stalls of this machine: sum, worst, ms', `${Math.round(stalls.lostMs)}, ${Math.round(stalls.worstMs)}`],
  ['late, while the machine had no time for the soak', violations.byMachine],
  ['violations', violations.count],
];
printTable(rows);
if (violations.count > 0) {
  console.error(`SOAK_SEED=${SEED}\n${String(violations)}`);
  process.exitCode = 1;
}
