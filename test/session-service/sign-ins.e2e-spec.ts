import { afterAll, beforeAll, describe, expect, afterEach, beforeEach, it } from '@jest/globals';
import fc from 'fast-check';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inLongForm } from '../support/long-form.js';
import { JSON_TYPE, KEY, MANAGER, post, signIn, type Variant } from './demo-calls.js';
import { expectEmpty, expectUserRecord } from './expectations.js';
import type { WireReply } from './send.js';
import { startHeldReferenceService, type HeldReferenceService } from './held-reference-service.js';
import {
  compileService,
  ServiceProcesses,
  type ServiceProcess,
  type ServiceProgram,
} from './service-process.js';

describe('the bodies of sign-ins at the reference service', () => {
  let service: HeldReferenceService;

  beforeAll(async () => {
    service = await startHeldReferenceService({ maxFailures: 1_000_000, maxFailuresPerCaller: 1_000_000 });
    service.hashing.letGo();
  });
  afterAll(() => service.close());

  it('JSON that is nested deeply gets 400 with an empty body, wherever the nesting is [O06]', async () => {
    const nestings = [
      ['['.repeat(100_000), ''],
      ['['.repeat(7_900), ']'.repeat(7_900)],
      ['{"__proto__":'.repeat(1_000), `1${'}'.repeat(1_000)}`],
    ];
    for (const [open = '', close = ''] of nestings)
      for (const body of [
        `${open}${close}`,
        `{"username":"manager","password":${open}${close}}`,
        `{"__proto__":${open}${close},"username":"manager","password":"manager-demo"}`,
      ])
        expectEmpty(await post(service.url, body), 400);
    expect(service.hashing.started).toBe(0);
  });

  it('a byte order mark, a repeated or an odd name, and unknown fields change nothing [O06]', async () => {
    for (const body of [
      `\uFEFF${JSON.stringify(MANAGER)}`,
      '{"username":"x","username":"manager","password":"y","password":"manager-demo"}',
      '{"username":"manager","password":"manager-demo","__proto__":{"username":"x"},"constructor":{"prototype":null},"then":1}',
      '{"username":"manager","password":"manager-demo","toString":null,"hasOwnProperty":1,"more":[[{"deep":[1]}]]}',
    ]) {
      expectUserRecord(await post(service.url, body));
    }
    for (const body of [
      '{"__proto__":{"username":"manager"},"password":"manager-demo"}',
      '{"username":{"toString":1,"length":7},"password":"manager-demo"}',
      '{"username":["manager"],"password":["manager-demo"]}',
    ])
      expectEmpty(await post(service.url, body), 400);
  });

  it('a body that is not UTF-8, or of no JSON media type, gets 400 with an empty body [O06]', async () => {
    const good = JSON.stringify(MANAGER);
    for (const body of [
      Buffer.from(`\uFEFF${good}`, 'utf16le'),
      Buffer.from('{"username":"\xff","password":"x"}', 'latin1'),
      '\0',
      '',
    ]) {
      expectEmpty(await post(service.url, body), 400);
    }
    const types = ['', 'text/json', 'application/jsonx', 'application/json, text/plain'];
    for (const type of types)
      expectEmpty(await post(service.url, good, { headers: { 'Content-Type': type } }), 400);
  });

  it('a body in chunks that do not end gets 400 with an empty body once it is too long [O06]', async () => {
    const headers = { ...KEY, ...JSON_TYPE };
    const call = request(`${service.url}/authentication`, { method: 'POST', headers, agent: false });
    call.on('error', () => undefined);
    call.write('{"username":"');
    const writing = setInterval(() => call.write('x'.repeat(1_024)), 1);
    try {
      const [reply] = (await once(call, 'response')) as [IncomingMessage];
      expect([reply.statusCode, await text(reply)]).toEqual([400, '']);
    } finally {
      clearInterval(writing);
      call.destroy();
    }
  });

  it('any JSON is answered with 200, 400 or 401 [O06]', async () => {
    const names = fc.constantFrom('username', 'password', '__proto__', 'constructor', 'toJSON', 'then', '');
    const values = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.jsonValue({ maxDepth: 6 }),
      fc.constantFrom('manager', '\ud800', '\0'),
    );
    const bodies = fc.oneof(fc.dictionary(names, values), fc.jsonValue({ maxDepth: 6 }));
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const reply = await post(service.url, JSON.stringify(body));
        expect([200, 400, 401]).toContain(reply.status);
        if (reply.status !== 200) expect(reply.body).toBe('');
      }),
      { numRuns: 300 },
    );
  });
});

const RECRUITER = { username: 'recruiter', password: 'recruiter-demo' };

(inLongForm('the limits of failed sign-ins, at the service as a process') ? describe : describe.skip)(
  'the limits of failed sign-ins, at the service as a process',
  () => {
    let program: ServiceProgram;
    let dataDir: string;
    let url: string;
    const services = new ServiceProcesses();

    beforeAll(async () => {
      program = await compileService();
    });

    beforeEach(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'session-service-'));
      ({ url } = await start());
    });

    afterEach(async () => {
      await services.killAll();
      await rm(dataDir, { recursive: true, force: true });
    });

    afterAll(() => program.remove());

    const start = (environment: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> =>
      services.start(program, { DATA_DIR: dataDir, ...environment });

    const guess = (username: string, times: number, variant?: Variant): Promise<WireReply[]> =>
      Promise.all(
        Array.from({ length: times }, (_, time) =>
          signIn(url, { username, password: `wrong-${time}` }, variant),
        ),
      );

    const countOf = (status: number, replies: readonly WireReply[]): number =>
      replies.filter((reply) => reply.status === status).length;

    it('check at most 11 of 100 guesses that come at once, and answer the others with an empty 429', async () => {
      const replies = await guess('manager', 100);
      expect([10, 11]).toContain(countOf(401, replies));
      expect(countOf(401, replies) + countOf(429, replies)).toBe(100);
      const refused = await signIn(url);
      expectEmpty(refused, 429);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(90);
      expect(refused.headers['cache-control']).toBe('no-store');
    });

    it('trust no header for the address of a caller', async () => {
      await guess('manager', 15);
      for (const name of ['X-Forwarded-For', 'X-Real-IP', 'CF-Connecting-IP', 'X-AUTH-IV'])
        expectEmpty(await signIn(url, MANAGER, { headers: { [name]: '203.0.113.9' } }), 429);
      expectEmpty(await signIn(url, MANAGER, { headers: { Forwarded: 'for=203.0.113.9' } }), 429);
      expectUserRecord(await signIn(url, MANAGER, { from: '127.0.0.2' }));
    });

    it('count nothing for right passwords, however many come at once, nor for bodies that are no sign-in', async () => {
      ({ url } = await start({ SIGN_IN_MAX_FAILURES: '1', SIGN_IN_MAX_FAILURES_PER_CALLER: '1' }));
      const replies = await Promise.all(Array.from({ length: 50 }, () => signIn(url)));
      expect(countOf(200, replies)).toBe(50);
      expectEmpty(await signIn(url, { username: 'pending', password: 'pending-demo' }), 202);
      expectEmpty(await signIn(url, { username: 'manager' }), 400);
      expectEmpty(await signIn(url, { ...MANAGER, password: 'x'.repeat(1_025) }), 401);
      expectEmpty(await signIn(url, { ...MANAGER, password: 'wrong' }), 401);
      expectEmpty(await signIn(url, RECRUITER), 429);
    });

    it('warn the operator once, without a name or a password', async () => {
      const service = await start();
      ({ url } = service);
      await guess('canary-name', 30);
      const { output } = await service.end('SIGTERM');

      expect(output.match(/Sign-ins are refused with 429/g)).toHaveLength(1);
      for (const secret of ['canary', 'wrong-']) expect(output).not.toContain(secret);
    });
  },
);
