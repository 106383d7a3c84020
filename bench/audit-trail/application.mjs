// The applications that are compared, in one process: the library, and the audit trail exactly as its guide
// prints it.
import 'reflect-metadata';
import { setTimeout } from 'node:timers/promises';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionAuthEvents, SessionAuthGuard, SessionAuthModule } from 'nestjs-session-auth';
import { contextOf, Things } from '../guarded-things.mjs';

const [serviceUrl, guide] = process.argv.slice(2);
const { AuditTrail } = await import(`${guide}/src/audit-trail.js`);
const { Database } = await import(`${guide}/src/database.js`);
Logger.overrideLogger(false);

const TOKENS = Array.from({ length: 200 }, (_, index) => `session-${index}`);
const TICK_MS = 10;
/** Sessions in use never expire. */
const CACHE = { ttlMs: 300_000, refreshAheadMs: 150_000 };

async function start(providers, observe = () => undefined) {
  class Root {}
  const session = SessionAuthModule.forRoot({
    baseUrl: serviceUrl,
    apiKey: 'application-key',
    timeoutMs: 60_000,
    cache: CACHE,
  });
  Module({ imports: [session], controllers: [Things], providers })(Root);
  const app = await NestFactory.create(Root, { logger: false });
  await app.listen(0, '127.0.0.1');
  app.getHttpServer().keepAliveTimeout = 600_000;
  observe(app);
  const guard = app.get(SessionAuthGuard, { strict: false });
  for (const token of TOKENS) await guard.canActivate(contextOf(token));
  return {
    app,
    guard,
    url: await app.getUrl(),
    trail: providers.length > 0 ? app.get(AuditTrail) : undefined,
  };
}

const applications = {
  none: await start([]),
  ignored: await start([], (app) => app.get(SessionAuthEvents).decisions$.subscribe(() => undefined)),
  trail: await start([AuditTrail, Database]),
};

/** Milliseconds from the first decision of each batch to its commit. */
let lags = [];
const { trail } = applications.trail;
const database = applications.trail.app.get(Database);
const insert = database.query.bind(database);
database.query = async (text, values) => {
  const result = await insert(text, values);
  if (Array.isArray(values[2])) lags.push(Date.now() - values[2][0]);
  return result;
};

async function whenWritten() {
  while (trail.waiting.length > 0) await setTimeout(5);
}

/** Whether the guard admits the call. A cached check returns no promise. */
function call(guard, index) {
  const result = guard.canActivate(contextOf(TOKENS[index % TOKENS.length]));
  if (result !== true) throw new Error('a check was not cached');
}

const handlers = {
  urls: () => Object.fromEntries(Object.entries(applications).map(([name, { url }]) => [name, url])),
  tokens: () => TOKENS,
  cpuUs: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  /** Processor time of calls in a row, with all that they cause. */
  burst: async ({ name, calls }) => {
    const { guard } = applications[name];
    const before = process.cpuUsage();
    for (let index = 0; index < calls; index += 1) {
      call(guard, index);
      if (index % 1_000 === 999) await setTimeout(0);
    }
    await whenWritten();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / calls;
  },
  /** Calls at a rate: how long each takes, and how late the event loop is. */
  paced: async ({ name, perSecond, durationMs }) => {
    const { guard } = applications[name];
    const [took, late] = [[], []];
    lags = [];
    const began = performance.now();
    let calls = 0;
    while (performance.now() - began < durationMs) {
      const due = performance.now() + TICK_MS;
      const target = ((performance.now() - began) / 1_000) * perSecond;
      for (; calls < target; calls += 1) {
        const start = performance.now();
        call(guard, calls);
        took.push(performance.now() - start);
      }
      await setTimeout(Math.max(0, due - performance.now()));
      late.push(Math.max(0, performance.now() - due));
    }
    const elapsedMs = performance.now() - began;
    return {
      calls,
      elapsedMs,
      took: summary(took),
      late: summary(late),
      waiting: trail.waiting.length,
      lost: trail.lost,
    };
  },
  lags: async () => {
    await whenWritten();
    return summary(lags);
  },
  whenWritten,
  counts: () => ({ decided: trail.decided, lost: trail.lost, waiting: trail.waiting.length }),
};

function summary(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { median: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}

process.on('message', async ({ id, name, argument }) => {
  try {
    process.send({ id, result: await handlers[name](argument) });
  } catch (error) {
    process.send({ id, error: String(error) });
  }
});
process.on('disconnect', () => process.exit());
process.send({ ready: true });
