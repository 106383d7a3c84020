import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { Roles } from 'nestjs-session-auth';
import { observeSessionAuth } from 'nestjs-session-auth/opentelemetry';
import { reply } from 'nestjs-session-auth/testing';
import { EXPRESS, startApp } from '../support/platforms.js';
import { MeController, sampleApp } from '../support/sample-app.js';
import { startScriptedService } from '../support/scripted-service.js';
import { suiteWith } from '../support/server-process.js';

const FOLDER = join(import.meta.dirname, '../../docs/monitoring');
const RULES = join(FOLDER, 'session-auth.rules.yml');
const PROMTOOL = process.env.PROMTOOL ?? 'promtool';
const describeWithPromtool = suiteWith(spawnSync(PROMTOOL, ['--version']).status === 0);

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const dashboard = JSON.parse(readFileSync(join(FOLDER, 'grafana-dashboard.json'), 'utf8')) as {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
};
/** The expressions of the dashboard, with the variables as Grafana replaces them. */
const expressions = dashboard.panels
  .flatMap(({ targets }) => targets.map(({ expr }) => expr))
  .map((expr) => expr.replaceAll('$__rate_interval', '5m'));

@Controller('openings')
class OpeningsController {
  @Get()
  @Roles('approver')
  list(): string {
    return 'in';
  }
}

/** The metrics of an application that has admitted, denied and failed, as Prometheus reads them. */
async function scraped(): Promise<string> {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const meters = new MeterProvider({ readers: [exporter] });
  const stop = observeSessionAuth({ meter: meters.getMeter('test') });
  const service = await startScriptedService();
  const controllers = [MeController, OpeningsController];
  const app = await startApp(EXPRESS, sampleApp({ baseUrl: service.url, controllers }));
  try {
    const token = service.signInAs({ username: 'ann', role: 'new_hire' });
    for (const path of ['/me', '/openings']) await app.get(path, token);
    service.on('user_details', reply(500));
    await app.get('/me', token);
    const { resourceMetrics } = await exporter.collect();
    return new PrometheusSerializer().serialize(resourceMetrics);
  } finally {
    stop();
    await app.close();
    await service.close();
    await meters.shutdown();
  }
}

describe('the files for Prometheus and Grafana', () => {
  let metrics: string;
  beforeAll(async () => {
    metrics = await scraped();
  });

  it('name metrics and labels that the application has', () => {
    const text = [readFileSync(RULES, 'utf8'), ...expressions].join('\n');
    const named = new Set(text.match(/\b(?:session_auth|error)_[a-z_]+\b/g));
    expect(named.size).toBeGreaterThan(10);
    expect([...named].filter((name) => !metrics.includes(name))).toEqual([]);
  });
});

describeWithPromtool('promtool of Prometheus', () => {
  const folder = mkdtempSync(join(tmpdir(), 'monitoring-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('accepts the rules, and the expressions of the dashboard', () => {
    const groups = [
      { name: 'dashboard', rules: expressions.map((expr, index) => ({ record: `panel:${index}`, expr })) },
    ];
    const ofDashboard = join(folder, 'dashboard.yml');
    writeFileSync(ofDashboard, JSON.stringify({ groups }));
    const output = execFileSync(PROMTOOL, ['check', 'rules', RULES, ofDashboard], { encoding: 'utf8' });
    expect(output.match(/SUCCESS: \d+ rules found/g)).toEqual([
      'SUCCESS: 5 rules found',
      `SUCCESS: ${expressions.length} rules found`,
    ]);
  });

  it('finds that a cause, an outage and guessed passwords alert, and a healthy application does not', () => {
    const SERIES = [
      ['causes_active{session_auth_cause="service failing"}', '1x30', '0x30'],
      ['check_duration_count{session_auth_outcome="unavailable"}', '0+60x30', '0x30'],
      ['check_duration_count{session_auth_outcome="authenticated"}', '0+60x30', '0+60x30'],
      ['denials_total{session_auth_code="CREDENTIALS_REJECTED"}', '0+120x30', '0+1x30'],
      ['breaker_state{session_auth_lane="known"}', '2x30', '0x30'],
    ];
    const ALERTS = {
      SessionAuthCause: { session_auth_cause: 'service failing', severity: 'warning' },
      SessionAuthUnavailable: { severity: 'critical' },
      SessionAuthBreakerOpen: { severity: 'critical' },
      SessionAuthFailedSignIns: { severity: 'warning' },
    };
    const test = (isBad: boolean): object => ({
      interval: '1m',
      input_series: SERIES.map(([name, bad, good]) => ({
        series: `session_auth_${name}`,
        values: isBad ? bad : good,
      })),
      alert_rule_test: Object.entries(ALERTS).map(([alertname, labels]) => ({
        eval_time: '20m',
        alertname,
        exp_alerts: isBad ? [{ exp_labels: labels }] : [],
      })),
    });
    for (const isBad of [true, false]) {
      const file = join(folder, `test-${isBad}.yml`);
      const withoutTexts = readFileSync(RULES, 'utf8').replace(/^ {8}annotations:\n(?: {10}.*\n)+/gm, '');
      writeFileSync(join(folder, 'rules.yml'), withoutTexts);
      writeFileSync(file, JSON.stringify({ rule_files: ['rules.yml'], tests: [test(isBad)] }));
      const { status, stdout, stderr } = spawnSync(PROMTOOL, ['test', 'rules', file], { encoding: 'utf8' });
      expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
    }
  });
});
