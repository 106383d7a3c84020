import { equal, rejects } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';
import { SessionAuthModule, SessionAuthService } from 'nestjs-session-auth';
import { startSessionService } from 'nestjs-session-auth/testing';
import { sessionAuth as schema } from '../dist/user-record/src/employee-schema.js';
import { sessionAuth as ownRecord } from '../dist/user-record/src/employee-record.js';
import { sessionAuth as rotatingKey } from '../dist/configuration/src/rotating-key.js';
import { SessionCallCounter } from '../dist/configuration/src/session-call-counter.js';
import { sessionAuth as tokenSources } from '../dist/configuration/src/token-sources.js';
import { MeController } from '../dist/openapi/src/documented.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

await trial('configuration, and the user record', async () => {
  await tryTokenSources();
  await tryRotatingKey();
  await tryInterceptors();
  await tryOwnRecord();
  await trySchema();
  await tryCertificates();
});

async function tryTokenSources() {
  const { sessions, moduleRef } = await underTest({
    module: class {},
    imports: [tokenSources],
    controllers: [MeController],
  });
  const { app, ask } = await listening(moduleRef.createNestApplication());
  const headers = sessions.signInAs();
  await expectStatus(ask('/me', headers), 200);
  await expectStatus(ask('/me', { cookie: `session=${headers['x-auth-token']}` }), 200);
  await expectStatus(ask('/me', { authorization: `Bearer ${headers['x-auth-token']}` }), 401);
  await app.close();
}

/**
 * The key file does not exist here: the application starts, and each check fails with an error that does not
 * name the file.
 */
async function tryRotatingKey() {
  const app = await NestFactory.createApplicationContext(
    { module: class {}, imports: [rotatingKey] },
    { logger: false },
  );
  await rejects(app.get(SessionAuthService).verify('some-token'), {
    code: 'SESSION_SERVICE_UNAVAILABLE',
    reason: 'api_key',
  });
  await app.close();
}

async function tryInterceptors() {
  const service = await startSessionService();
  const session = SessionAuthModule.forRoot({ baseUrl: service.url, apiKey: 'your-application-key' });
  const root = { module: class {}, imports: [session], providers: [SessionCallCounter] };
  const app = await NestFactory.createApplicationContext(root, { logger: false });
  await app.get(SessionAuthService).verify(service.signInAs({ username: 'ann' }));
  equal(app.get(SessionCallCounter).calls, 1);
  await app.close();
  await service.close();
}

async function tryOwnRecord() {
  const { sessions, moduleRef } = await underTest({ module: class {}, imports: [ownRecord] });
  const { 'x-auth-token': token } = sessions.signInAs({ department: 'payroll' });
  equal((await moduleRef.get(SessionAuthService).verify(token)).department, 'payroll');
  await moduleRef.close();
}

async function trySchema() {
  const { sessions, moduleRef } = await underTest({ module: class {}, imports: [schema] });
  const service = moduleRef.get(SessionAuthService);
  const verify = (fields) => service.verify(sessions.signInAs(fields)['x-auth-token']);
  equal((await verify({ shift: 'night' })).shift, 'night');
  await rejects(verify({ username: '', email: null }), { reason: 'malformed' });
  await moduleRef.close();
}

/** The files are read at the start, and used by the first call. */
async function tryCertificates() {
  for (const name of ['client.pem', 'client.key']) writeFileSync(name, '');
  const { mutualTls, throughProxy } = await import('../dist/configuration/src/certificates-and-proxies.js');
  for (const imported of [mutualTls, throughProxy]) {
    const { sessions, moduleRef } = await underTest({
      module: class {},
      imports: [imported],
      controllers: [MeController],
    });
    const { app, ask } = await listening(moduleRef.createNestApplication());
    await expectStatus(ask('/me', sessions.signInAs()), 200);
    await app.close();
  }
}
