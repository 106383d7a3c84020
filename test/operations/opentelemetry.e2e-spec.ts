import { hasSubscribers } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { context, SpanStatusCode, trace, ValueType } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { Controller, Get, UseGuards, type Type } from '@nestjs/common';
import { Roles, SessionAuthGuard, SessionAuthService } from 'nestjs-session-auth';
import {
  BREAKER_CHANNEL,
  CALL_CHANNEL,
  CAUSE_CHANNEL,
  CHECK_CHANNEL,
  DENIAL_CHANNEL,
} from 'nestjs-session-auth/diagnostics';
import { observeSessionAuth } from 'nestjs-session-auth/opentelemetry';
import { errorOf } from '../support/caching-app.js';
import { canariesIn, everythingOf, IV, KEY, TOKEN } from '../support/trial/canaries.js';
import { afterDelay, drop, hold, json, reply, type Script } from '../support/scripted-service.js';
import { platforms } from '../support/platforms.js';
import { MeController } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

/** The telemetry of a process, collected in memory by the SDK itself. */
class Collected {
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: this.#metrics,
    exportIntervalMillis: 3_600_000,
  });
  readonly #meters = new MeterProvider({ readers: [this.#reader] });
  readonly spans = new InMemorySpanExporter();
  readonly traces = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.spans)] });
  readonly stop = observeSessionAuth({
    meter: this.#meters.getMeter('test'),
    tracer: this.traces.getTracer('test'),
  });

  /** Value of each attribute set of a metric; of a histogram, its count. */
  async read(name: string): Promise<[attributes: object, value: number][]> {
    const points = (await this.metrics())
      .filter(({ descriptor }) => descriptor.name === name)
      .flatMap(({ dataPoints }) => [...dataPoints]);
    return points.map(({ attributes, value }) => [
      attributes,
      typeof value === 'number' ? value : value.count,
    ]);
  }

  async metrics() {
    this.#metrics.reset();
    await this.#reader.forceFlush();
    return this.#metrics
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  }

  async everything(): Promise<string> {
    await this.#reader.forceFlush();
    return everythingOf([
      this.#metrics.getMetrics(),
      this.spans
        .getFinishedSpans()
        .map(({ name, attributes, events, status }) => [name, attributes, events, status]),
    ]);
  }

  async close(): Promise<void> {
    this.stop();
    await this.#meters.shutdown();
    await this.traces.shutdown();
  }
}

@Controller()
@UseGuards(SessionAuthGuard)
class BossController {
  @Get('boss')
  @Roles('boss')
  boss(): string {
    return 'in';
  }
}

function controllerOf(role: string): Type {
  @Controller(role)
  class RuledController {
    @Get() @Roles(role) handle(): string {
      return 'in';
    }
  }
  return RuledController;
}

/** The gauge of both lanes: 0 closed, 2 open. */
const breakers = (known: number, strangers: number) => [
  [{ 'session_auth.lane': 'known' }, known],
  [{ 'session_auth.lane': 'strangers' }, strangers],
];
const checks = 'session_auth.check.duration';
const calling = { 'session_auth.operation': 'user_details' };
const by = (outcome: string, source: string, error?: string) => ({
  'session_auth.outcome': outcome,
  'session_auth.source': source,
  ...(error && { 'error.type': error }),
});

describe.each(platforms('Fastify'))('the telemetry on %s', (_name, platform) => {
  const bed = testbed(platform);
  let collected: Collected;

  beforeEach(() => {
    collected = new Collected();
  });
  afterEach(() => collected.close());

  it('counts checks by outcome and source', async () => {
    const service = await bed.service();
    const token = service.signInAs({ role: 'boss' });
    const options = { cache: { ttlMs: 60_000 }, retry: false } as const;
    const app = await bed.sample({ baseUrl: service.url, options });
    for (let time = 0; time < 3; time += 1) await app.get('/me', token);
    for (let time = 0; time < 2; time += 1) await app.get('/me', 'of-nobody');
    service.on('user_details', reply(403));
    await app.get('/me', 'denied');
    service.on('user_details', reply(500));
    await app.get('/me', 'unlucky');

    const counts = await collected.read(checks);
    expect(counts).toHaveLength(6);
    expect(counts).toEqual(
      expect.arrayContaining([
        [by('authenticated', 'service'), 1],
        [by('authenticated', 'cache'), 2],
        [by('unauthenticated', 'service'), 1],
        [by('unauthenticated', 'cache'), 1],
        [by('forbidden', 'service'), 1],
        [by('unavailable', 'service', 'server_error'), 1],
      ]),
    );
  });

  it('counts calls in flight, and reports that the breaker of a lane opens', async () => {
    const service = await bed.service();
    const options = {
      retry: false,
      breaker: { minimumCalls: 1, pauseMs: 120_000, maxPauseMs: 120_000 },
    } as const;
    const app = await bed.sample({ baseUrl: service.url, options });
    const held = hold(reply(500));
    service.on('user_details', held.script);
    const asked = app.get('/me', 'token');
    await held.arrived;
    expect(await collected.read('session_auth.calls.active')).toEqual([[calling, 1]]);
    expect(await collected.read('session_auth.breaker.state')).toEqual(breakers(0, 0));
    held.release();
    await asked;
    expect(await collected.read('session_auth.calls.active')).toEqual([[calling, 0]]);
    expect(await collected.read('session_auth.breaker.state')).toEqual(breakers(0, 2));
  });

  it.each<[name: string, script: Script]>([
    ['accepted', json({ username: 'ann', auth_token: 'token' })],
    ['answered by no one', drop],
    ['answered too late', hold(reply(200)).script],
  ])('counts no call in flight once it is over, of each operation: %s [P54]', async (_outcome, script) => {
    const service = await bed.serviceThat(script);
    const timeoutMs = 500;
    const times = { timeoutMs, signInTimeoutMs: timeoutMs, signOutTimeoutMs: timeoutMs };
    const app = await bed.sample({ baseUrl: service.url, options: times });
    const sessions = app.app.get(SessionAuthService);
    await errorOf(sessions.verify('token'));
    await errorOf(sessions.signIn({ username: 'ann', password: 'x' }));
    await errorOf(sessions.signOut('token'));
    expect(await collected.read('session_auth.calls.active')).toEqual(
      ['user_details', 'sign_in', 'sign_out'].map((operation) => [
        { 'session_auth.operation': operation },
        0,
      ]),
    );
  });

  it('has checks in seconds, from a cache hit to the longest call, and says of each instrument what it counts', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    await app.get('/me');
    service.on('user_details', afterDelay(100, json({ username: 'ann' })));
    const startMs = performance.now();
    await app.get('/me', 'token');
    const tookSeconds = (performance.now() - startMs) / 1_000;
    const metrics = await collected.metrics();
    const described = Object.fromEntries(metrics.map(({ descriptor: { name, ...rest } }) => [name, rest]));

    expect(described).toMatchObject({
      [checks]: { unit: 's', description: expect.stringMatching(/^Time that a request waited/) },
      'session_auth.denials': {
        unit: '{request}',
        valueType: ValueType.INT,
        description: expect.stringMatching(/denied/),
      },
      'session_auth.calls.active': { unit: '{call}', description: expect.stringMatching(/in flight/) },
      'session_auth.breaker.state': { description: expect.stringMatching(/0 closed, 1 half-open, 2 open/) },
    });
    const [point] = metrics.find(({ descriptor }) => descriptor.name === checks)?.dataPoints ?? [];
    const { sum = NaN, buckets } = point?.value as { sum?: number; buckets: { boundaries: number[] } };
    expect([sum >= 0.09, sum <= tookSeconds]).toEqual([true, true]);
    expect([buckets.boundaries[0], buckets.boundaries.at(-1)]).toEqual([0.0001, 10]);
  });

  it('counts denials by their code, also those without a call and failed sign-ins', async () => {
    const service = await bed.service();
    const token = service.signInAs({ role: 'worker' });
    const app = await bed.sample({
      baseUrl: service.url,
      options: { retry: false },
      controllers: [MeController, BossController],
    });
    await app.get('/me');
    await app.get('/me', 'of-nobody');
    await app.get('/boss', token);
    await app.get('/me', token);
    service.on('user_details', reply(500));
    await app.get('/me', 'unlucky');
    service.on('sign_in', reply(401));
    await errorOf(app.app.get(SessionAuthService).signIn({ username: 'ann', password: 'x' }));
    expect(await collected.read('session_auth.denials')).toEqual([
      [{ 'session_auth.code': 'SESSION_REQUIRED' }, 1],
      [{ 'session_auth.code': 'SESSION_REJECTED' }, 1],
      [{ 'session_auth.code': 'ACCESS_DENIED', 'session_auth.rule': '@Roles(boss)' }, 1],
      [{ 'session_auth.code': 'SESSION_SERVICE_UNAVAILABLE' }, 1],
      [{ 'session_auth.code': 'CREDENTIALS_REJECTED' }, 1],
    ]);
  });

  it('names a hundred rules of denials, and counts those of further ones together', async () => {
    const roles = Array.from({ length: 102 }, (_, index) => `role-${index}`);
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers: roles.map(controllerOf) });
    const token = service.signInAs({});
    for (const role of [...roles, 'role-0']) await app.get(`/${role}`, token);
    const named = roles.slice(0, 100).map((role, index) => [`@Roles(${role})`, index === 0 ? 2 : 1]);
    const counted = (await collected.read('session_auth.denials')).map(
      ([attributes, count]) => [(attributes as Record<string, unknown>)['session_auth.rule'], count] as const,
    );
    expect(counted).toEqual([...named, ['other', 2]]);
  });

  it('has a span for each call, below the one of the request', async () => {
    const service = await bed.service();
    const token = service.signInAs({});
    service.on('sign_in', json({ username: 'ann', auth_token: 'token' }));
    const app = await bed.sample({ baseUrl: service.url });
    const sessions = app.app.get(SessionAuthService);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const parent = collected.traces.getTracer('test').startSpan('request');
    await context.with(trace.setSpan(context.active(), parent), async () => {
      await sessions.verify(token);
      await sessions.signIn({ username: 'ann', password: 'secret' });
    });
    context.disable();

    const spans = collected.spans.getFinishedSpans();
    const { hostname, port } = new URL(service.url);
    const spanOf = (operation: string, method: string, outcome: string): unknown[] => [
      `session ${operation}`,
      {
        'server.address': hostname,
        'server.port': Number(port),
        'http.response.status_code': 200,
        'http.request.method': method,
        'session_auth.operation': operation,
        'session_auth.outcome': outcome,
      },
    ];
    expect(spans.map(({ name, attributes }) => [name, attributes])).toEqual([
      spanOf('user_details', 'GET', 'authenticated'),
      spanOf('sign_in', 'POST', 'done'),
    ]);
    for (const { parentSpanContext } of spans)
      expect(parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
  });

  it('has the status of each reply, none without a reply, and an error where a call failed', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, options: { retry: false } });
    service.on('user_details', reply(502));
    await app.get('/me', 'unlucky');
    service.on('user_details', drop);
    await app.get('/me', 'unlucky');
    service.on('sign_in', reply(401));
    await errorOf(app.app.get(SessionAuthService).signIn({ username: 'ann', password: 'x' }));
    service.on('user_details', reply(401));
    await app.get('/me', 'of-nobody');
    const spans = collected.spans.getFinishedSpans();
    const reported = spans.map(({ attributes, status }) => [
      attributes['http.response.status_code'],
      attributes['error.type'],
      status.code,
    ]);
    expect(reported).toEqual([
      [502, 'server_error', SpanStatusCode.ERROR],
      [undefined, 'unreachable', SpanStatusCode.ERROR],
      [401, 'failed', SpanStatusCode.ERROR],
      [401, undefined, SpanStatusCode.UNSET],
    ]);
    expect('http.response.status_code' in (spans[1]?.attributes ?? {})).toBe(false);
  });

  it('holds no key, token, IV or password', async () => {
    const service = await bed.service();
    service.signInAs({ username: 'ann' }, TOKEN);
    service.on('sign_in', json({ username: 'ann', auth_token: TOKEN }));
    const app = await bed.sample({
      baseUrl: service.url,
      options: { apiKey: KEY, cache: { ttlMs: 60_000 } },
    });
    for (let time = 0; time < 2; time += 1) await app.get('/me', TOKEN, { 'x-auth-iv': IV });
    await app.app.get(SessionAuthService).signIn({ username: 'ann', password: KEY });
    await app.app.get(SessionAuthService).signOut(TOKEN, { authIv: IV });
    const everything = await collected.everything();
    expect(everything).toContain('session sign_out');
    expect(canariesIn(everything)).toEqual([]);
  });

  it('stops after its end function was called', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    const names = [CHECK_CHANNEL, DENIAL_CHANNEL, BREAKER_CHANNEL, CAUSE_CHANNEL];
    const subscribed = [...names, `tracing:${CALL_CHANNEL}:start`, `tracing:${CALL_CHANNEL}:asyncEnd`];
    expect(subscribed.map((name) => hasSubscribers(name))).toEqual(subscribed.map(() => true));
    collected.stop();
    expect(subscribed.map((name) => hasSubscribers(name))).toEqual(subscribed.map(() => false));
    await app.get('/me', service.signInAs({}));
    expect(await collected.read(checks)).toEqual([]);
    expect(collected.spans.getFinishedSpans()).toEqual([]);
  });
});
