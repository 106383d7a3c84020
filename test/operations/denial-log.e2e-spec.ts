import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, type Type } from '@nestjs/common';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { AggregationTemporality, InMemoryMetricExporter } from '@opentelemetry/sdk-metrics';
import { Roles, SessionAuthService } from 'nestjs-session-auth';
import { observeSessionAuth } from 'nestjs-session-auth/opentelemetry';
import { reply } from 'nestjs-session-auth/testing';
import { errorOf } from '../support/caching-app.js';
import { CapturedLog } from '../support/captured-log.js';
import { type GuideCode, importFromGuide } from '../support/guide-code.js';
import { platforms } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

@Controller('openings')
class OpeningsController {
  @Get(':id')
  @Roles('approver')
  read(): string {
    return 'in';
  }
}

describe.each(platforms('Fastify'))('denials on %s', (_name, platform) => {
  const bed = testbed(platform);
  let guide: GuideCode<{ DenialLog: Type }>;
  beforeAll(async () => {
    guide = await importFromGuide('audit-trail.md', 'src/denial-log.ts');
  });
  afterAll(() => guide.remove());

  it('are in the log of the guide: who was denied what, by which rule', async () => {
    const log = new CapturedLog();
    const service = await bed.service();
    const app = await bed.sample(
      { baseUrl: service.url, controllers: [OpeningsController], providers: [guide.module.DenialLog] },
      { logger: log },
    );
    await app.get('/openings/7?secret', service.signInAs({ username: 'ann', role: 'new_hire' }));
    await app.get('/openings/7', service.signInAs({ username: 'bob', role: 'approver' }));

    const lines = log.lines.filter((line) => line.endsWith(' Denials'));
    expect(lines).toHaveLength(1);
    for (const part of [
      "code: 'ACCESS_DENIED'",
      "rule: '@Roles(approver)'",
      "path: '/openings/7'",
      "user: 'ann'",
    ])
      expect(lines[0]).toContain(part);
    expect(lines[0]).not.toContain('secret');
  });

  it('are counted by rule, and failed sign-ins by code', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
    const meters = new MeterProvider({ readers: [reader] });
    const stop = observeSessionAuth({ meter: meters.getMeter('test') });
    try {
      const service = await bed.service();
      const app = await bed.sample({ baseUrl: service.url, controllers: [OpeningsController] });
      service.on('sign_in', reply(401));
      const token = service.signInAs({ username: 'ann', role: 'new_hire' });
      for (let call = 0; call < 2; call += 1) await app.get('/openings/7', token);
      await errorOf(app.app.get(SessionAuthService).signIn({ username: 'ann', password: 'x' }));
      await reader.forceFlush();
      const metrics = exporter
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((each) => each.metrics));
      const denials = metrics.find(({ descriptor }) => descriptor.name === 'session_auth.denials');
      expect(denials?.dataPoints.map(({ attributes, value }) => [attributes, value])).toEqual([
        [
          {
            'session_auth.code': 'ACCESS_DENIED',
            'session_auth.rule': '@Roles(approver)',
            'session_auth.authority': 'default',
          },
          2,
        ],
        [{ 'session_auth.code': 'CREDENTIALS_REJECTED', 'session_auth.authority': 'default' }, 1],
      ]);
    } finally {
      stop();
      await meters.shutdown();
    }
  });
});
