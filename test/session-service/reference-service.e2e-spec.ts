import { mkdtemp, rm } from 'node:fs/promises';
import { type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type NestApplicationOptions } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { type Kysely } from 'kysely';
import { startReferenceService } from 'session-service';
import { openDatabase } from '../../apps/session-service/src/database/open-database.js';
import { type Schema } from '../../apps/session-service/src/database/schema.js';
import { seedDemoAccounts } from '../../apps/session-service/src/database/seed-demo-accounts.js';
import { configureApplication } from '../../apps/session-service/src/http/configure-application.js';
import { listen } from '../../apps/session-service/src/http/listen.js';
import { Argon2PasswordHashing, PasswordHashing } from '../../apps/session-service/src/passwords/password-hashing.js';
import { SessionServiceModule } from '../../apps/session-service/src/session-service.module.js';
import { SessionLimits } from '../../apps/session-service/src/sessions/session-limits.js';
import { JSON_TYPE, KEY, signIn, signOut, tokenFrom, userDetails } from './demo-calls.js';
import { expectEmpty, expectUserRecord } from './expectations.js';
import { expectSignOutToOutliveKill } from './outliving-a-kill.js';
import { HeldPasswordHashing } from './held-password-hashing.js';
import { send } from './send.js';
import { compileService, runServiceToItsEnd, type ServiceProcess, ServiceProcesses, type ServiceProgram } from './service-process.js';

describe('the service as a process', () => {
  let program: ServiceProgram;
  let dataDir: string;
  const services = new ServiceProcesses();

  beforeAll(async () => {
    program = await compileService();
  });

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'session-service-'));
  });

  afterEach(async () => {
    await services.killAll();
    await rm(dataDir, { recursive: true, force: true });
  });

  afterAll(() => program.remove());

  const start = (environment: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> =>
    services.start(program, { DATA_DIR: dataDir, ...environment });

  it('has not forgotten a sign-out when it is killed right after its 200, nor the sessions that go on', async () => {
    await expectSignOutToOutliveKill(start);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('ends with exit code 0 on %s, and its sessions go on after a restart', async (signal) => {
    const service = await start();
    const token = await tokenFrom(service.url);
    expect(await service.end(signal)).toMatchObject({ code: 0 });

    const restarted = await start();
    expectUserRecord(await userDetails(restarted.url, token));
  });

  it('writes no key, token, user name or password to its output, not even for refused requests', async () => {
    const service = await start();
    const token = await tokenFrom(service.url);
    await signIn(service.url, { username: 'canary-username', password: 'canary-password' });
    await userDetails(service.url, 'canary-token');
    await send(service.url, { method: 'GET', path: '/authentication/user_details', headers: { 'X-API-KEY': 'canary-key' } });
    const { output } = await service.end('SIGTERM');

    expect(output).toContain('listening');
    for (const secret of [token, 'canary', 'demo-api-key', 'manager-demo']) expect(output).not.toContain(secret);
  });

  it('says in one line that the port is busy, and ends with exit code 1', async () => {
    const port = new URL((await start()).url).port;
    const { code, output } = await runServiceToItsEnd(program, { DATA_DIR: dataDir, PORT: port });

    expect({ code, output }).toEqual({
      code: 1,
      output: `session-service: port ${port} on 127.0.0.1 is already in use; set PORT to another one\n`,
    });
  });

  it.each([
    ['PORT', 'http', 'port'],
    ['SESSION_LIFETIME_MS', '-1', 'session lifetime'],
    ['SIGN_IN_MAX_FAILURES', '0', 'failed sign-ins per account and caller'],
    ['SIGN_IN_WINDOW_MS', 'an hour', 'window of failed sign-ins'],
    ['DATA_DIR', join(import.meta.dirname, 'send.ts', 'data'), 'database'],
  ])('says in one line that a bad %s stops it, and ends with exit code 1', async (name, value, named) => {
    const { code, output } = await runServiceToItsEnd(program, { DATA_DIR: dataDir, [name]: value });

    expect(code).toBe(1);
    expect(output).toMatch(/^session-service: [^\n]+\n$/);
    expect(output).toContain(named);
  });

  it('has no demo accounts in production, and says what to do about an empty database', async () => {
    const service = await start({ NODE_ENV: 'production' });
    expectEmpty(await signIn(service.url), 403);
    const { output } = await service.end('SIGTERM');

    expect(output).toContain('add-application');
  });
});

describe('the embedded service', () => {
  it('is independent of another in the same process', async () => {
    const [one, other] = await Promise.all([startReferenceService({ logger: false }), startReferenceService({ logger: false })]);
    const token = await tokenFrom(one.url);

    expectUserRecord(await userDetails(one.url, token));
    expectEmpty(await userDetails(other.url, token), 401);
    await Promise.all([one.close(), other.close(), one.close()]);
    await expect(userDetails(one.url, token)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('refuses sessions that have lived as long as they may', async () => {
    const service = await startReferenceService({ logger: false, sessionLifetimeMs: 1 });
    const token = await tokenFrom(service.url);
    while ((await userDetails(service.url, token)).status === 200);

    expectEmpty(await signOut(service.url, token), 401);
    await service.close();
  });

  it('rejects with a plain sentence when its port is busy', async () => {
    const service = await startReferenceService({ logger: false });
    const port = Number(new URL(service.url).port);

    await expect(startReferenceService({ logger: false, port })).rejects.toThrow(`port ${port} on 127.0.0.1 is already in use`);
    await service.close();
  });
});

describe('under abuse', () => {
  let database: Kysely<Schema>;
  let hashing: HeldPasswordHashing;
  let app: NestExpressApplication;
  let url: string;

  beforeEach(async () => {
    database = await openDatabase();
    await seedDemoAccounts(database, new Argon2PasswordHashing());
    hashing = new HeldPasswordHashing();
    const testing = Test.createTestingModule({ imports: [SessionServiceModule.over(database, new SessionLimits())] });
    const module = await testing.overrideProvider(PasswordHashing).useValue(hashing).compile();
    const options: Pick<NestApplicationOptions, 'bodyParser' | 'logger'> = { bodyParser: false, logger: false };
    app = module.createNestApplication<NestExpressApplication>(options);
    configureApplication(app);
    await app.init();
    const server: Server = app.getHttpServer();
    url = await listen(server, 0, '127.0.0.1');
  });

  afterEach(async () => {
    hashing.letGo();
    await app.close();
    await database.destroy();
  });

  it('hashes two passwords at once at most, while it answers those who are signed in', async () => {
    const signIns = Promise.all(Array.from({ length: 20 }, () => signIn(url)));
    while (hashing.started < 2) await userDetails(url, 'of-no-session');
    expectEmpty(await userDetails(url, 'of-no-session'), 401);
    expect(hashing.running).toBe(2);
    hashing.letGo();

    expect((await signIns).map((reply) => reply.status)).toEqual(Array(20).fill(200));
    expect(hashing).toMatchObject({ mostAtOnce: 2, started: 20 });
  });

  it('answers 503 with an empty body when too many passwords wait, and serves those that do', async () => {
    const signIns = Array.from({ length: 259 }, (_, number) => signIn(url, { username: `nobody-${number}`, password: 'x' }));
    const refused = await Promise.race(signIns);
    expectEmpty(refused, 503);
    expect(refused.headers['retry-after']).toBe('1');
    hashing.letGo();

    const statuses = (await Promise.all(signIns)).map((reply) => reply.status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(258);
  });

  it.each([
    ['a password of 1025 bytes', { username: 'manager', password: 'x'.repeat(1025) }, 401],
    ['a password of 1025 bytes in fewer characters', { username: 'manager', password: '€'.repeat(342) }, 401],
    ['a username of 1025 bytes', { username: 'x'.repeat(1025), password: 'manager-demo' }, 401],
    ['a password of 1 MiB', { username: 'manager', password: 'x'.repeat(1024 * 1024) }, 400],
  ])('hashes nothing for %s', async (_, credentials, status) => {
    expectEmpty(await signIn(url, credentials), status);
    expect(hashing.started).toBe(0);
  });

  it('hashes once for an unknown user, as for a wrong password', async () => {
    hashing.letGo();
    expectEmpty(await signIn(url, { username: 'nobody', password: 'x' }), 401);
    expect(hashing.started).toBe(1);
    expectEmpty(await signIn(url, { username: 'manager', password: 'x' }), 401);
    expect(hashing.started).toBe(2);
  });

  it.each([
    ['10 MiB long', {}, Buffer.alloc(10 * 1024 * 1024, ' ')],
    ['not UTF-8', {}, Buffer.from('{"username":"manager\xff","password":"x"}', 'latin1')],
    ['compressed', { 'Content-Encoding': 'gzip' }, Buffer.from('{"username":"manager","password":"x"}')],
  ])('answers 400 with an empty body to a body that is %s', async (_, headers, body) => {
    expectEmpty(await send(url, { method: 'POST', path: '/authentication', headers: { ...KEY, ...JSON_TYPE, ...headers }, body }), 400);
    expect(hashing.started).toBe(0);
  });

  it('answers 403 to a wrong application key before it looks at the body', async () => {
    const body = Buffer.alloc(10 * 1024 * 1024, ' ');
    const headers = { 'X-API-KEY': 'wrong', 'Content-Type': 'text/plain' };
    expectEmpty(await send(url, { method: 'POST', path: '/authentication', headers, body }), 403);
  });

  it('needs no database to refuse a wrong application key, and answers 500 with an empty body where it needs one', async () => {
    await database.destroy();

    for (const headers of [{ 'X-API-KEY': 'wrong', 'X-AUTH-TOKEN': 'x' }, { 'X-AUTH-TOKEN': 'x' }]) {
      expectEmpty(await send(url, { method: 'GET', path: '/authentication/user_details', headers }), 403);
    }
    expectEmpty(await userDetails(url, 'x'), 500);
  });
});
