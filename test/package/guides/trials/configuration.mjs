import { equal, rejects, throws } from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { NestFactory } from '@nestjs/core';
import { SessionAuthService } from 'nestjs-session-auth';
import { sessionAuth as schema } from '../dist/user-record/src/employee-schema.js';
import { sessionAuth as ownRecord } from '../dist/user-record/src/employee-record.js';
import { sessionAuth as rotatingKey } from '../dist/configuration/src/rotating-key.js';
import { RenamedCalls } from '../dist/configuration/src/renamed-calls.js';
import { sessionAuth as tokenSources } from '../dist/configuration/src/token-sources.js';
import { MeController } from '../dist/openapi/src/documented.js';
import { expectStatus, sessionAuth, start, trial, underTest } from './support.mjs';

await trial('configuration, and the user record', async () => {
  await tryTokenSources();
  await tryRotatingKey();
  await tryInterceptors();
  await tryOwnRecord();
  await trySchema();
  await tryCertificates();
});

async function tryTokenSources() {
  const { sessions, ask } = await start({ imports: [tokenSources], controllers: [MeController] });
  const headers = sessions.signInAs();
  await expectStatus(ask('/me', headers), 200);
  await expectStatus(ask('/me', { cookie: `session=${headers['x-auth-token']}` }), 200);
  await expectStatus(ask('/me', { authorization: `Bearer ${headers['x-auth-token']}` }), 401);
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
  const refused = { code: 'SESSION_SERVICE_UNAVAILABLE', reason: 'api_key' };
  await rejects(app.get(SessionAuthService).verify('some-token'), refused);
  await app.close();
}

async function tryInterceptors() {
  const service = createServer(({ url, headers }, reply) =>
    reply.end(JSON.stringify({ username: `${url} ${headers.authorization}` })),
  ).listen(0, '127.0.0.1');
  await once(service, 'listening');
  const imports = [sessionAuth({ baseUrl: `http://127.0.0.1:${service.address().port}` })];
  const root = { module: class {}, imports, providers: [RenamedCalls] };
  const app = await NestFactory.createApplicationContext(root, { logger: false });
  equal((await app.get(SessionAuthService).verify('token')).username, '/authentication/me Bearer token');
  await app.close();
  service.close();
}

async function tryOwnRecord() {
  const { sessions, moduleRef } = await underTest({ imports: [ownRecord] });
  const { 'x-auth-token': token } = sessions.signInAs({ department: 'payroll' });
  equal((await moduleRef.get(SessionAuthService).verify(token)).department, 'payroll');
  await moduleRef.close();
}

async function trySchema() {
  const { sessions, moduleRef } = await underTest({ imports: [schema] });
  const service = moduleRef.get(SessionAuthService);
  const verify = (fields) => service.verify(sessions.signInAs(fields)['x-auth-token']);
  equal((await verify({ shift: 'night' })).shift, 'night');
  throws(() => sessions.signInAs({ username: '', email: null }), /username/);
  await moduleRef.close();
}

/** The files are read at the start, and used by the first call. */
async function tryCertificates() {
  for (const name of ['client.pem', 'client.key']) writeFileSync(name, '');
  const { mutualTls, throughProxy } = await import('../dist/configuration/src/certificates-and-proxies.js');
  for (const imported of [mutualTls, throughProxy]) {
    const { sessions, ask } = await start({ imports: [imported], controllers: [MeController] });
    await expectStatus(ask('/me', sessions.signInAs()), 200);
  }
}
