import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JSON_TYPE, KEY, MANAGER, signIn, signOut, userDetails } from './demo-calls.js';
import { expectEmpty, expectUserRecord } from './expectations.js';
import { expectSignOutToOutliveKill } from './outliving-a-kill.js';
import { send, type WireReply } from './send.js';
import { compileService, ServiceProcesses } from './service-process.js';
import { startHeldReferenceService, type HeldReferenceService } from './held-reference-service.js';
import { plainRow } from '../support/trial/row.js';

const WRONG = [{}, { 'X-API-KEY': '' }, { 'X-API-KEY': 'wrong' }, { 'X-API-KEY': 'demo-api-key-' }, { 'X-API-KEY': 'demo-api-ke' }];
const ENDPOINTS = [
  ['POST', '/authentication'],
  ['DELETE', '/authentication'],
  ['GET', '/authentication/user_details'],
] as const;

function post(url: string, body: string | Buffer, path = '/authentication'): Promise<WireReply> {
  return send(url, { method: 'POST', path, headers: { ...KEY, ...JSON_TYPE }, body });
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

describe('the reference service', () => {
  let service: HeldReferenceService;

  beforeEach(async () => {
    service = await startHeldReferenceService();
  });
  afterEach(() => service.close());

  plainRow('its refusals are empty, and the sign-in is at /authentication with and without a trailing slash [O01]', async () => {
    service.hashing.letGo();
    for (const path of ['/authentication', '/authentication/']) {
      expectUserRecord(await post(service.url, JSON.stringify(MANAGER), path));
      expectEmpty(await post(service.url, JSON.stringify({ ...MANAGER, password: 'wrong' }), path), 401);
      expectEmpty(await post(service.url, '{', path), 400);
    }
    expectEmpty(await userDetails(service.url, 'of-no-session'), 401);
    expectEmpty(await signOut(service.url, 'of-no-session'), 401);
    expectEmpty(await send(service.url, { method: 'GET', path: '/nowhere', headers: KEY }), 404);
  });

  plainRow('an unknown user and a wrong password get one status after one hash each, and in like time [O02]', async () => {
    await service.close();
    service = await startHeldReferenceService({ maxFailures: 1_000 });
    service.hashing.letGo();
    const times: Record<string, number[]> = { 'nobody-of-that-name': [], manager: [] };
    for (let round = 0; round < 50; round += 1) {
      for (const [username, took] of Object.entries(times)) {
        took.push(await timed(async () => expectEmpty(await signIn(service.url, { username, password: 'wrong' }), 401)));
      }
    }
    const [unknown = NaN, wrong = NaN] = Object.values(times).map(median);

    expect(service.hashing.started).toBe(100);
    // Taken in turn, so that a busy machine slows both alike; without a hash it would be a tenth.
    expect(unknown / wrong).toBeGreaterThan(0.5);
    expect(unknown / wrong).toBeLessThan(2);
  });

  plainRow(
    'beyond the limit of failed sign-ins an unknown user and a wrong password get one status too, without a hash [O02]',
    async () => {
      service.hashing.letGo();
      const answers: Record<string, unknown[]> = { 'nobody-of-that-name': [], manager: [] };
      for (let round = 0; round < 15; round += 1) {
        for (const [username, got] of Object.entries(answers)) {
          const { status, headers, body } = await signIn(service.url, { username, password: 'wrong' });
          got.push([status, Object.keys(headers), body]);
        }
      }
      const [unknown = [], wrong = []] = Object.values(answers);

      expect(unknown).toEqual(wrong);
      expect(wrong.map((answer) => (answer as unknown[])[0])).toEqual([...Array<number>(10).fill(401), ...Array<number>(5).fill(429)]);
      expect(service.hashing.started).toBe(20);
    },
  );

  plainRow('200 sign-ins at once are hashed two by two, and those who are signed in are answered meanwhile [O04]', async () => {
    const signIns = Array.from({ length: 200 }, () => signIn(service.url));
    let answered = 0;
    for (const reply of signIns) void reply.then(() => (answered += 1));
    while (service.hashing.started < 2) await userDetails(service.url, 'of-no-session');
    for (let call = 0; call < 100; call += 1) expectEmpty(await userDetails(service.url, 'of-no-session'), 401);
    expect([answered, service.hashing.running]).toEqual([0, 2]);

    service.hashing.letGo();
    let meanwhile = 0;
    for (; answered < 200; meanwhile += 1) await userDetails(service.url, 'of-no-session');
    expect((await Promise.all(signIns)).map(({ status }) => status)).toEqual(Array(200).fill(200));
    expect(service.hashing.mostAtOnce).toBe(2);
    // One that has to wait for the hashes waits for all that are queued before it.
    expect(meanwhile).toBeGreaterThan(20);
  });

  plainRow('a wrong application key, or none, is refused with 403 at every endpoint without a look into the database [O05]', async () => {
    await service.loseDatabase();
    for (const [method, path] of ENDPOINTS) {
      for (const key of WRONG) {
        const headers = { ...key, 'X-AUTH-TOKEN': 'x', ...JSON_TYPE };
        expectEmpty(await send(service.url, { method, path, headers, ...(method === 'POST' && { body: JSON.stringify(MANAGER) }) }), 403);
      }
    }
  });

  plainRow('what cannot be a sign-in gets 400 or 401 with an empty body, and nothing that is too long is hashed [O06]', async () => {
    service.hashing.letGo();
    for (const body of [
      JSON.stringify({ ...MANAGER, password: 'x'.repeat(1024 * 1024) }),
      Buffer.alloc(10 * 1024 * 1024, ' '),
      'username=manager&password=manager-demo',
      '{"username":"manager"',
    ]) {
      expectEmpty(await post(service.url, body), 400);
    }
    expectEmpty(await signIn(service.url, { ...MANAGER, password: 'x'.repeat(1025) }), 401);
    expect(service.hashing.started).toBe(0);
    for (const username of ['manager\0', `' OR '1'='1`, `manager' --`]) {
      expectEmpty(await signIn(service.url, { ...MANAGER, username }), 401);
    }
  });
});

describe('the reference service as a process', () => {
  plainRow(
    'a sign-out that was answered 200 holds when the process is killed right afterwards, and other sessions go on [O03]',
    async () => {
      const dataDir = await mkdtemp(join(tmpdir(), 'session-service-'));
      const [program, services] = [await compileService(), new ServiceProcesses()];
      try {
        await expectSignOutToOutliveKill(() => services.start(program, { DATA_DIR: dataDir }));
      } finally {
        await services.killAll();
        await program.remove();
        await rm(dataDir, { recursive: true, force: true });
      }
    },
  );
});
