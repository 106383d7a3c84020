import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReferenceService, type ReferenceService } from 'session-service';
import { optionsFromEnvironment } from '../../apps/session-service/src/environment.js';
import { JSON_TYPE, KEY, MANAGER, post, signIn, signOut, tokenFrom, userDetails } from './demo-calls.js';
import { expectEmpty, expectUserRecord } from './expectations.js';
import { HeldPasswordHashing } from './held-password-hashing.js';
import { send } from './send.js';
import {
  compileService,
  ServiceProcesses,
  type ServiceProcess,
  type ServiceProgram,
} from './service-process.js';
import { startHeldReferenceService, type HeldReferenceService } from './held-reference-service.js';
import { CapturedLog } from '../support/captured-log.js';

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

  it('a sign-out that was answered 200 survives a kill of the process right afterwards, and other sessions stay valid [O03]', async () => {
    const service = await start();
    const [ended, goesOn] = [await tokenFrom(service.url), await tokenFrom(service.url)];
    expectEmpty(await signOut(service.url, ended), 200);
    await service.end('SIGKILL');

    const restarted = await start();
    expectEmpty(await userDetails(restarted.url, ended), 401);
    expectUserRecord(await userDetails(restarted.url, goesOn));
  });

  it('ends with exit code 0 on SIGTERM, and has written no key, token, user name or password, not even of refused requests', async () => {
    const service = await start();
    const token = await tokenFrom(service.url);
    const canary = { username: 'canary-username', password: 'canary-password' };
    for (let guess = 0; guess < 12; guess += 1) await signIn(service.url, canary);
    await userDetails(service.url, 'canary-token');
    await send(service.url, {
      method: 'GET',
      path: '/authentication/user_details',
      headers: { 'X-API-KEY': 'canary-key' },
    });
    const { code, output } = await service.end('SIGTERM');

    expect([code, output]).toEqual([0, expect.stringContaining('listening')]);
    expect(output.match(/Sign-ins are refused with 429/g)).toHaveLength(1);
    for (const secret of [token, 'canary', 'demo-api-key', 'manager-demo'])
      expect(output).not.toContain(secret);
  });
});

describe('the service with the settings of its environment', () => {
  const log = new CapturedLog();
  const started: ReferenceService[] = [];
  const former = process.env.NODE_ENV;
  let dataDir: string;

  beforeEach(async () => {
    log.lines.length = 0;
    dataDir = await mkdtemp(join(tmpdir(), 'session-service-'));
  });
  afterEach(async () => {
    process.env.NODE_ENV = former;
    for (const service of started.splice(0)) await service.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function start({ NODE_ENV = former, ...environment }: NodeJS.ProcessEnv): Promise<ReferenceService> {
    process.env.NODE_ENV = NODE_ENV;
    const options = optionsFromEnvironment({ DATA_DIR: dataDir, PORT: '0', ...environment });
    const service = await startReferenceService({ ...options, logger: log });
    started.push(service);
    return service;
  }

  it.each<NodeJS.ProcessEnv>([{ HOST: '0.0.0.0' }, { HOST: '::', EXPOSE_DEMO_ACCOUNTS: '1' }])(
    'refuses to serve the published accounts with %j, and adds none [P47]',
    async (environment) => {
      const refused = `${environment.HOST} is reachable from other machines; .*EXPOSE_DEMO_ACCOUNTS=true`;
      await expect(start(environment)).rejects.toThrow(
        new RegExp(`^the demo accounts have published passwords .*${refused}`),
      );
      expect(await readdir(dataDir)).toEqual([]);
    },
  );

  it('refuses a database with the published key on HOST=0.0.0.0, also in production [P47]', async () => {
    await (await start({})).close();
    for (const environment of [{}, { NODE_ENV: 'production' }])
      await expect(start({ HOST: '0.0.0.0', ...environment })).rejects.toThrow(
        'the demo accounts have published passwords',
      );
  });

  it('serves a new database in production on HOST=0.0.0.0 [P47]', async () => {
    const service = await start({ HOST: '0.0.0.0', NODE_ENV: 'production' });
    expect((await userDetails(service.url, 'any')).status).toBe(403);
  });

  it('has no demo accounts in production, and prints how to fill an empty database', async () => {
    const service = await start({ NODE_ENV: 'production' });
    expectEmpty(await signIn(service.url), 403);
    expect(log.having('warn', 'add-application')).toHaveLength(1);
  });
});

describe('the embedded service', () => {
  it('refuses sessions that have reached their maximum age', async () => {
    const service = await startReferenceService({ logger: false, sessionLifetimeMs: 1 });
    const token = await tokenFrom(service.url);
    while ((await userDetails(service.url, token)).status === 200);

    expectEmpty(await signOut(service.url, token), 401);
    await service.close();
  });
});

describe('the reference service under abuse', () => {
  let service: HeldReferenceService;

  beforeEach(async () => {
    service = await startHeldReferenceService();
  });
  afterEach(() => service.close());

  it('answers 503 with an empty body when too many passwords wait, and serves those that do', async () => {
    const signIns = Array.from({ length: 259 }, (_, number) =>
      signIn(service.url, { username: `nobody-${number}`, password: 'x' }),
    );
    const refused = await Promise.race(signIns);
    expectEmpty(refused, 503);
    expect(refused.headers['retry-after']).toBe('1');
    service.hashing.letGo();

    const statuses = (await Promise.all(signIns)).map((reply) => reply.status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(258);
  });

  it('answers 500 with an empty body where it needs the database, which is closed', async () => {
    await service.loseDatabase();
    expectEmpty(await userDetails(service.url, 'x'), 500);
  });
});

describe('the reference service', () => {
  let service: HeldReferenceService;

  beforeEach(async () => {
    service = await startHeldReferenceService();
  });
  afterEach(() => service.close());

  it('its refusals are empty, and the sign-in is at /authentication with and without a trailing slash [O01]', async () => {
    service.hashing.letGo();
    for (const path of ['/authentication', '/authentication/']) {
      expectUserRecord(await signIn(service.url, MANAGER, { path }));
      expectEmpty(await signIn(service.url, { ...MANAGER, password: 'wrong' }, { path }), 401);
      expectEmpty(await post(service.url, '{', { path }), 400);
    }
    expectEmpty(await userDetails(service.url, 'of-no-session'), 401);
    expectEmpty(await signOut(service.url, 'of-no-session'), 401);
    expectEmpty(await send(service.url, { method: 'GET', path: '/nowhere', headers: KEY }), 404);
  });

  it('an unknown user and a wrong password get the same status after one hash each, of the same cost [O02]', async () => {
    service.hashing.letGo();
    for (const username of ['unknown-user', 'manager'])
      expectEmpty(await signIn(service.url, { username, password: 'wrong' }), 401);
    const [unknown, wrong] = service.hashing.verified.map((hash) => hash.split('$').slice(0, -2));
    expect([service.hashing.verified.length, unknown]).toEqual([2, wrong]);
  });

  it('beyond the limit of failed sign-ins an unknown user and a wrong password get the same status, without a hash [O02]', async () => {
    service.hashing.letGo();
    const answers: Record<string, unknown[]> = { 'unknown-user': [], manager: [] };
    for (let round = 0; round < 15; round += 1) {
      for (const [username, got] of Object.entries(answers)) {
        const { status, headers, body } = await signIn(service.url, { username, password: 'wrong' });
        got.push([status, Object.keys(headers), body]);
      }
    }
    const [unknown = [], wrong = []] = Object.values(answers);

    expect(unknown).toEqual(wrong);
    expect(wrong.map((answer) => (answer as unknown[])[0])).toEqual([
      ...Array<number>(10).fill(401),
      ...Array<number>(5).fill(429),
    ]);
    expect(service.hashing.started).toBe(20);
  });

  it('200 concurrent sign-ins are hashed two by two, and sessions are checked meanwhile [O04]', async () => {
    await service.close();
    service = await startHeldReferenceService(undefined, new HeldPasswordHashing('some'));
    const signIns = Array.from({ length: 200 }, () => signIn(service.url));
    let answered = 0;
    for (const reply of signIns) void reply.then(() => (answered += 1));
    while (service.hashing.started < 2) await userDetails(service.url, 'of-no-session');
    for (let call = 0; call < 100; call += 1)
      expectEmpty(await userDetails(service.url, 'of-no-session'), 401);
    expect([answered, service.hashing.running]).toEqual([0, 2]);

    service.hashing.letGo();
    let meanwhile = 0;
    for (; answered < 200; meanwhile += 1) await userDetails(service.url, 'of-no-session');
    expect((await Promise.all(signIns)).map(({ status }) => status)).toEqual(Array(200).fill(200));
    expect(service.hashing).toMatchObject({ mostAtOnce: 2, started: 200 });
    // One that has to wait for the hashes waits for all that are queued before it.
    expect(meanwhile).toBeGreaterThan(20);
  });

  it('a wrong application key, or none, is refused with 403 at every endpoint without a query [O05]', async () => {
    await service.loseDatabase();
    for (const [method, path] of [
      ['POST', '/authentication'],
      ['DELETE', '/authentication'],
      ['GET', '/authentication/user_details'],
    ] as const) {
      for (const key of [undefined, '', 'wrong', 'demo-api-key-', 'demo-api-ke']) {
        const headers = { ...(key !== undefined && { 'X-API-KEY': key }), 'X-AUTH-TOKEN': 'x', ...JSON_TYPE };
        const body = method === 'POST' ? { body: JSON.stringify(MANAGER) } : {};
        expectEmpty(await send(service.url, { method, path, headers, ...body }), 403);
      }
    }
  });

  it('an invalid sign-in gets 400 or 401 with an empty body, and what is overlong is not hashed [O06]', async () => {
    service.hashing.letGo();
    for (const body of [
      JSON.stringify({ ...MANAGER, password: 'x'.repeat(1024 * 1024) }),
      Buffer.alloc(10 * 1024 * 1024, ' '),
      'username=manager&password=manager-demo',
      '{"username":"manager"',
    ]) {
      expectEmpty(await post(service.url, body), 400);
    }
    for (const overlong of [{ password: '€'.repeat(342) }, { username: 'x'.repeat(1025) }])
      expectEmpty(await signIn(service.url, { ...MANAGER, ...overlong }), 401);
    expectEmpty(await signIn(service.url, MANAGER, { headers: { 'Content-Encoding': 'gzip' } }), 400);
    expect(service.hashing.started).toBe(0);
    for (const username of ['manager\0', `' OR '1'='1`, `manager' --`]) {
      expectEmpty(await signIn(service.url, { ...MANAGER, username }), 401);
    }
  });
});
