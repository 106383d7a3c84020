import { deepEqual, equal, rejects } from 'node:assert/strict';
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
  service.setDown(true);
  await rejects(app.get(SessionAuthService).verify('some-token'), SessionServiceUnavailableError);
  deepEqual((await details(200)).breakers, { known: 'closed', strangers: 'open' });
  await rejects(app.get(SessionAuthService).verify(token), SessionServiceUnavailableError);
  const { causes, failedChecks, ...down } = await details(503);
  deepEqual(
    causes.map(({ cause }) => cause),
    ['service unreachable'],
  );
  equal(failedChecks > 0, true);
  deepEqual(down, {
    status: 'down',
    state: 'down',
    breakers: { known: 'open', strangers: 'open' },
    misconfigurationSuspected: false,
    revocationBus: { state: 'off', unreadableMessages: 0 },
  });
  await app.close();
  await service.close();
});
