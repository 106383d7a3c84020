import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { HealthIndicatorService } from '@nestjs/terminus';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  Authorize,
  SessionAuthEvents,
  type SessionAuthOptions,
  SessionAuthService,
} from 'nestjs-session-auth';
import { observeSessionAuth } from 'nestjs-session-auth/opentelemetry';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { SessionAuthHealthIndicator } from 'nestjs-session-auth/terminus';
import { json, reply, silence, type Script } from 'nestjs-session-auth/testing';
import type { Fleet } from '../fleet/fleet.js';
import { fleets } from '../fleet/suites.js';
import { errorOf } from '../support/caching-app.js';
import { CapturedLog } from '../support/captured-log.js';
import { EXPRESS, type RunningApp, startApp } from '../support/platforms.js';
import { MeController, sampleApp } from '../support/sample-app.js';
import { describeWithRedis, redisClient } from '../support/redis.js';
import { type ScriptedService, startScriptedService } from '../support/scripted-service.js';
import { until } from '../support/until.js';

/** `every-cause.md` is written from this run with WRITE_CAUSES=1, and compared with it otherwise. */
const PAGE = join(import.meta.dirname, 'every-cause.md');
const START = '- `service unreachable`';
const MAX_SIGN_INS = 32;

class DatabaseError extends Error {}

@Controller('openings')
class OpeningsController {
  @Get()
  @Authorize(function ownsOpening() {
    throw new DatabaseError('postgres://app:secret@db');
  })
  list(): string {
    return 'in';
  }
}

interface Running {
  readonly app: RunningApp;
  readonly service: ScriptedService;
  readonly sessions: SessionAuthService;
}

interface Row {
  readonly what: string;
  readonly options?: (service: ScriptedService) => Partial<SessionAuthOptions>;
  readonly baseUrl?: (service: ScriptedService) => string;
  readonly provoke: (running: Running) => Promise<unknown>;
}

/** A row of an application with a store in a Redis. */
interface FleetRow {
  readonly what: string;
  readonly provokeIn: (fleet: Fleet, running: Running) => Promise<unknown>;
}

const stopRedis: FleetRow['provokeIn'] = async ({ server }, { app }) => {
  await server.kill();
  await app.get('/me', 'token');
};

/** Three requests of known users, while the service answers so. */
const answering =
  (script: Script): Row['provoke'] =>
  async ({ app, service }) => {
    const tokens = ['ann', 'bob', 'eve'].map((username) => service.signInAs({ username }));
    for (const token of tokens) await app.get('/me', token);
    service.on('user_details', script);
    for (const token of tokens) await app.get('/me', token);
  };

const request: Row['provoke'] = ({ app }) => app.get('/me', 'token');

/** Failures of this many calls in a row degrade the state. */
const IN_A_ROW = 3;

const requests: Row['provoke'] = async (running) => {
  for (let call = 0; call < IN_A_ROW; call += 1) await request(running);
};

const ROWS: Readonly<Record<string, Row>> = {
  'service unreachable': {
    what: 'the service is stopped',
    provoke: async (running) => {
      const { app, service } = running;
      const token = service.signInAs({ username: 'ann' });
      await app.get('/me', token);
      await service.close();
      for (let call = 0; call < IN_A_ROW; call += 1) await app.get('/me', token);
    },
  },
  'connection lost': {
    what: 'a proxy has dropped an idle connection without closing it',
    provoke: async ({ app, service }) => {
      let dead: unknown;
      service.on('user_details', (...call) => {
        dead ??= call[2];
        (call[2] === dead && service.callsTo('user_details') > 1 ? silence : json({ username: 'ann' }))(
          ...call,
        );
      });
      await app.get('/me', 'first');
      const now = performance.now.bind(performance);
      const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 500);
      await app.get('/me', 'second');
      clock.mockRestore();
    },
  },
  'TLS failure': {
    what: 'the service speaks http, and `baseUrl` says https',
    baseUrl: ({ url }) => url.replace('http:', 'https:'),
    provoke: requests,
  },
  'service too slow': { what: 'the service accepts calls, and answers none', provoke: answering(silence) },
  'service failing': { what: 'the service answers 503', provoke: answering(reply(503)) },
  throttled: { what: 'the service answers 429', provoke: answering(reply(429)) },
  'too many calls': {
    what: 'three sign-ins more while 32 are under way',
    provoke: async ({ service, sessions }) => {
      service.on('sign_in', silence);
      const signIn = (): Promise<unknown> => errorOf(sessions.signIn({ username: 'ann', password: 'x' }));
      for (let call = 0; call < MAX_SIGN_INS; call += 1) void signIn();
      for (let call = 0; call < IN_A_ROW; call += 1) await signIn();
    },
  },
  'no key': {
    what: 'the function `apiKey` throws',
    options: () => ({
      apiKey: () => {
        throw new Error('vault');
      },
    }),
    provoke: requests,
  },
  'unexpected reply': {
    what: 'another web server answers 404 with a page',
    provoke: answering(reply(404, '<html>', { 'content-type': 'text/html' })),
  },
  'unusable reply': {
    what: 'a proxy answers 200 with a sign-in page',
    provoke: answering(reply(200, '<html>', { 'content-type': 'text/html' })),
  },
  'token mismatch': {
    what: 'a proxy mixes up replies',
    provoke: answering(json({ username: 'ann', auth_token: 'of-another-user' })),
  },
  'invalid user record': {
    what: 'the role of a user is a list',
    provoke: answering(json({ username: 'ann', role: ['boss'] })),
  },
  'access refused': {
    what: 'the service answers 403 to one user',
    provoke: async ({ app, service }) => {
      service.on('user_details', reply(403));
      await app.get('/me', 'token');
    },
  },
  'key refused': { what: 'the key is replaced by a wrong one', provoke: answering(reply(403)) },
  'rule failed': {
    what: 'the database of a rule is down',
    provoke: ({ app, service }) => app.get('/openings', service.signInAs({ username: 'ann' })),
  },
  'no local user': {
    what: '`loadUser` says whether there is a user',
    options: () => ({ loadUser: () => false }),
    provoke: ({ app, service }) => app.get('/me', service.signInAs({ username: 'ann' })),
  },
  'token source failed': {
    what: 'a function of `token` is asynchronous',
    options: () => ({ token: (() => Promise.resolve('token')) as never }),
    provoke: request,
  },
  'event subscriber failed': {
    what: 'a subscriber of `decisions$` throws',
    provoke: async ({ app }) => {
      app.app.get(SessionAuthEvents).decisions$.subscribe(() => {
        throw new Error('queue');
      });
      await app.get('/me', 'token');
    },
  },
  'caching forbidden': {
    what: '`cache` is on, and the service sends `no-store`',
    options: () => ({ cache: { ttlMs: 10_000 } }),
    provoke: async ({ app, service }) => {
      const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
      service.on('user_details', reply(200, JSON.stringify({ username: 'ann' }), headers));
      await app.get('/me', 'token');
    },
  },
};

const FLEET_ROWS: Readonly<Record<string, FleetRow>> = {
  'session store unavailable': { what: 'the Redis of `cache.store` is stopped', provokeIn: stopRedis },
  'revocation bus interrupted': { what: 'the Redis of `cache.store` is stopped', provokeIn: stopRedis },
  'unreadable messages': {
    what: 'another instance has another `secret`',
    provokeIn: async (fleet) => {
      const other = await fleet.instance({ store: { secret: 'the secret of the other' } });
      await other.do('forgetUser', 'ann');
    },
  },
  'clock differs': {
    what: 'the clock of another instance is two minutes ahead',
    provokeIn: async (fleet) => {
      const other = await fleet.instance({ clockOffsetMs: 120_000 });
      await other.do('forgetUser', 'ann');
    },
  },
};

interface Seen {
  readonly log: string;
  readonly health: string;
  readonly metric: string;
}

/** An application with a store in the Redis of a fleet, which receives the messages of others. */
async function runIn(fleet: Fleet, cause: string, { provokeIn }: FleetRow): Promise<Seen> {
  const redis = redisClient(fleet.server.port);
  const store = new RedisSessionStore({ redis });
  const seen = await run(cause, {
    what: '',
    options: () => ({ cache: { ttlMs: 10_000, store } }),
    baseUrl: () => fleet.service.url,
    provoke: async (running) => {
      const events = running.app.app.get(SessionAuthEvents);
      await until('it is subscribed', () => events.serviceStatus.revocationBus.state === 'connected');
      await provokeIn(fleet, running);
    },
  });
  redis.disconnect();
  return seen;
}

async function run(cause: string, { options, baseUrl, provoke }: Row): Promise<Seen> {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const meters = new MeterProvider({ readers: [exporter] });
  const stop = observeSessionAuth({ meter: meters.getMeter('test') });
  const [log, service] = [new CapturedLog(), await startScriptedService()];
  const root = sampleApp({
    baseUrl: baseUrl?.(service) ?? service.url,
    controllers: [MeController, OpeningsController],
    // The defaults: a sample application has longer ones, for a busy machine.
    options: { timeoutMs: 3_000, signInTimeoutMs: 10_000, ...options?.(service) },
  });
  const app = await startApp(EXPRESS, root, { logger: log });
  try {
    const [events, sessions] = [app.app.get(SessionAuthEvents), app.app.get(SessionAuthService)];
    await provoke({ app, service, sessions });
    const isLine = (each: string): boolean => new RegExp(`^(?:warn|error) ${cause}: `).test(each);
    await until('the line is written', () => log.lines.some(isLine));
    const indicator = new SessionAuthHealthIndicator(new HealthIndicatorService(), events, sessions);
    const { health } = await indicator.isHealthy('health');
    const { resourceMetrics } = await exporter.collect();
    const active = new RegExp(
      `^session_auth_causes_active\\{[^}]*session_auth_cause="${cause}"[^}]*\\} (\\d+)`,
      'm',
    );
    const line = log.lines.find(isLine) ?? '';
    return {
      log: line
        .replace(/(?: undefined)? SessionAuth$/, '')
        .replace(/(?<=failed with )(?:ERR_SSL_|EPROTO)\w*/, 'ERR_SSL_…'),
      health: `${health.status}, \`state\` ${String(health.state)}`,
      metric: active.exec(new PrometheusSerializer().serialize(resourceMetrics))?.[1] ?? 'none',
    };
  } finally {
    stop();
    await app.close();
    if (cause !== 'service unreachable') await service.close();
    await meters.shutdown();
  }
}

const rowOf = (cause: string, what: string, { log, health, metric }: Seen): string =>
  `- \`${cause}\` (${what}): ${health}, metric ${metric}: \`${log.replaceAll('`', "'")}\``;

describeWithRedis('every cause in a running application with default settings', () => {
  const start = fleets();
  const rows: string[] = [];
  beforeAll(async () => {
    for (const [cause, row] of Object.entries(ROWS)) rows.push(rowOf(cause, row.what, await run(cause, row)));
    for (const [cause, row] of Object.entries(FLEET_ROWS))
      rows.push(rowOf(cause, row.what, await runIn(await start(), cause, row)));
    if (process.env.WRITE_CAUSES === undefined) return;
    const page = readFileSync(PAGE, 'utf8');
    writeFileSync(PAGE, `${page.slice(0, page.indexOf(START))}${rows.join('\n')}\n`);
  });
  afterAll(() => void rows.splice(0));

  it('has a line, a state and a metric, as every-cause.md shows them', () => {
    const page = readFileSync(PAGE, 'utf8');
    expect(rows).toEqual(page.slice(page.indexOf(START)).trim().split('\n'));
    for (const row of rows) expect(row).toMatch(/: (?:up|down), .*, metric 1: `(?:warn|error) .+`$/);
  });
});
