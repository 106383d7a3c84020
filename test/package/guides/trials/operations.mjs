import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { setImmediate } from 'node:timers';
import { SessionAuthModule, SessionAuthService } from 'nestjs-session-auth';
import { SessionServiceUnavailableError } from 'nestjs-session-auth/errors';
import { HealthModule } from '../dist/operations/src/health.module.js';
import { NestFactory } from '@nestjs/core';
import { startSessionService } from 'nestjs-session-auth/testing';
import { expectStatus, listening, trial } from './support.mjs';

await trial('operations', async () => {
  const breaker = { minimumCalls: 1, pauseMs: 60_000, maxPauseMs: 60_000 };
  const service = await startSessionService();
  const options = { baseUrl: service.url, apiKey: 'your-application-key', breaker, protectAllRoutes: true };
  const root = { module: class {}, imports: [SessionAuthModule.forRoot(options), HealthModule] };
  await import('../dist/operations/src/prometheus.js');
  const { app, ask } = await listening(await NestFactory.create(root, { logger: false }));
  const details = async (status) =>
    (await (await expectStatus(ask('/health'), status)).json()).details['session-service'];

  deepEqual(await details(200), {
    status: 'up',
    state: 'up',
    breakers: { known: 'closed', strangers: 'closed' },
    misconfigurationSuspected: false,
    revocationBus: { state: 'off', unreadableMessages: 0 },
    causes: [],
    failedChecks: 0,
  });
  const token = service.signInAs({ username: 'ann' });
  await app.get(SessionAuthService).verify(token);
  const metrics = await (await fetch('http://127.0.0.1:9464/metrics')).text();
  match(metrics, /session_auth_check_duration_\w*count\{[^}]*session_auth_outcome="authenticated"/);
  service.setDown(true);
  await rejects(app.get(SessionAuthService).verify('some-token'), SessionServiceUnavailableError);
  deepEqual((await details(200)).breakers, { known: 'closed', strangers: 'open' });
  await rejects(app.get(SessionAuthService).verify(token), SessionServiceUnavailableError);
  const { causes, failedChecks, ...down } = await details(503);
  deepEqual(
    causes.map(({ cause }) => cause),
    ['service unreachable'],
  );
  equal(failedChecks, 1);
  deepEqual(down, {
    status: 'down',
    state: 'down',
    breakers: { known: 'open', strangers: 'open' },
    misconfigurationSuspected: false,
    revocationBus: { state: 'off', unreadableMessages: 0 },
  });
  await app.close();
  await service.close();
  // The exporter of the guide listens until the process ends.
  setImmediate(() => process.exit());
});
