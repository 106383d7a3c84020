import { afterAll, beforeAll, describe, expect, afterEach, beforeEach, it } from '@jest/globals';
import fc from 'fast-check';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { JSON_TYPE, KEY, MANAGER, post, signIn } from './demo-calls.js';
import { expectEmpty, expectUserRecord } from './expectations.js';
import { startHeldReferenceService, type HeldReferenceService } from './held-reference-service.js';

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

describe('the limits of failed sign-ins', () => {
  let service: HeldReferenceService;
  beforeEach(async () => {
    service = await startHeldReferenceService();
    service.hashing.letGo();
  });
  afterEach(() => service.close());

  it('check at most 11 of 100 guesses that come at once, and answer the others with an empty 429', async () => {
    const guesses = Array.from({ length: 100 }, () => signIn(service.url, { ...MANAGER, password: 'wrong' }));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect([10, 11]).toContain(statuses.filter((status) => status === 401).length);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    const refused = await signIn(service.url);
    expectEmpty(refused, 429);
    const seconds = expect.stringMatching(/^(?:[1-9]|[1-8]\d|90)$/);
    expect(refused.headers).toMatchObject({ 'retry-after': seconds, 'cache-control': 'no-store' });
  });

  it('trust no header for the address of a caller', async () => {
    for (let guess = 0; guess < 15; guess += 1) await signIn(service.url, { ...MANAGER, password: 'wrong' });
    for (const name of ['X-Forwarded-For', 'X-Real-IP', 'CF-Connecting-IP', 'X-AUTH-IV'])
      expectEmpty(await signIn(service.url, MANAGER, { headers: { [name]: '203.0.113.9' } }), 429);
    expectEmpty(await signIn(service.url, MANAGER, { headers: { Forwarded: 'for=203.0.113.9' } }), 429);
    expectUserRecord(await signIn(service.url, MANAGER, { from: '127.0.0.2' }));
  });
});
