import { describe, expect, it } from '@jest/globals';
import { Controller, Get, type DynamicModule } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule, type HealthCheckResult } from '@nestjs/terminus';
import { SessionAuthHealthIndicator } from 'nestjs-session-auth/terminus';
import { json, reply, type ScriptedService } from '../support/scripted-service.js';
import { platforms, type RunningApp } from '../support/platforms.js';
import { MeController, sampleApp } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly sessions: SessionAuthHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  passive(): Promise<HealthCheckResult> {
    return this.health.check([() => this.sessions.isHealthy()]);
  }

  @Get('probe')
  @HealthCheck()
  probe(): Promise<HealthCheckResult> {
    return this.health.check([() => this.sessions.isHealthy('sessions', { probe: true })]);
  }
}

const breaker = { minimumCalls: 2, pauseMs: 60_000, maxPauseMs: 60_000 };

function root(baseUrl: string): DynamicModule {
  const sample = sampleApp({
    baseUrl,
    options: { breaker, retry: false },
    controllers: [HealthController, MeController],
  });
  return {
    ...sample,
    imports: [...(sample.imports ?? []), TerminusModule.forRoot({ logger: false })],
    providers: [SessionAuthHealthIndicator],
  };
}

describe.each(platforms('Express'))('health on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function started(): Promise<{ app: RunningApp; service: ScriptedService }> {
    const service = await bed.service();
    return { service, app: await bed.app(root(service.url)) };
  }

  async function healthOf(app: RunningApp, path = '/health'): Promise<[number, unknown]> {
    const answer = await app.get(path);
    return [answer.status, ((await answer.json()) as HealthCheckResult).details];
  }

  const up = {
    status: 'up',
    state: 'up',
    breakers: { known: 'closed', strangers: 'closed' },
    misconfigurationSuspected: false,
    revocationBus: { state: 'off', unreadableMessages: 0 },
    failedChecks: 0,
    causes: [],
  };
  const causeOf = (cause: string, subject: string, failures: number, isRecovering = false): object => ({
    cause,
    subject,
    failures,
    isRecovering,
    sinceMs: expect.any(Number),
  });

  it('is down while the breaker of known sessions is open', async () => {
    const { app, service } = await started();
    service.on('user_details', (request, ...call) =>
      json({ username: String(request.headers['x-auth-token']) })(request, ...call),
    );
    for (const token of ['one', 'two']) await app.get('/me', token);
    service.on('user_details', reply(500));
    for (const token of ['one', 'two']) await app.get('/me', token);
    const breakers = { known: 'open', strangers: 'open' };
    const causes = [causeOf('service failing', 'checks', 2)];
    const down = { ...up, status: 'down', state: 'down', breakers, failedChecks: 2, causes };
    expect(await healthOf(app)).toEqual([503, { 'session-service': down }]);
  });

  it('is up, and the state degraded, while only the breaker of strangers is open', async () => {
    const { app, service } = await started();
    service.on('user_details', reply(500));
    for (const token of ['one', 'two']) await app.get('/me', token);
    const breakers = { known: 'closed', strangers: 'open' };
    const degraded = (...failing: [failures: number, isRecovering?: boolean]): object => ({
      ...up,
      state: 'degraded',
      breakers,
      causes: [causeOf('service failing', 'checks', ...failing)],
    });
    expect(await healthOf(app)).toEqual([200, { 'session-service': degraded(2) }]);
    expect(await healthOf(app, '/health/probe')).toMatchObject([
      503,
      { sessions: { status: 'down', state: 'down', unreachable: 'server_error' } },
    ]);
    service.on('user_details', reply(401));
    expect(await healthOf(app, '/health/probe')).toEqual([200, { sessions: degraded(3, true) }]);
  });

  it('makes no call, but one if it is set to probe, and counts a refusal as up', async () => {
    const { app, service } = await started();
    expect(await healthOf(app)).toEqual([200, { 'session-service': up }]);
    expect(await healthOf(app, '/health/probe')).toEqual([200, { sessions: up }]);
    expect(service.requests).toHaveLength(1);
    expect(service.requests[0]?.headers).toMatchObject({ 'x-auth-token': 'health-probe' });
    await service.close();
    expect(await healthOf(app, '/health/probe')).toMatchObject([
      503,
      { sessions: { status: 'down', state: 'down', unreachable: 'unreachable' } },
    ]);
  });
});
