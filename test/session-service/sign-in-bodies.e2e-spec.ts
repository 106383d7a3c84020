import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import fc from 'fast-check';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { JSON_TYPE, KEY, MANAGER } from './demo-calls.js';
import { expectEmpty, expectUserRecord } from './expectations.js';
import { send, type WireReply } from './send.js';
import { startHeldReferenceService, type HeldReferenceService } from './held-reference-service.js';
import { plainRow } from '../support/trial/row.js';

function post(url: string, body: string | Buffer): Promise<WireReply> {
  return send(url, { method: 'POST', path: '/authentication', headers: { ...KEY, ...JSON_TYPE }, body });
}

describe('the bodies of sign-ins at the reference service', () => {
  let service: HeldReferenceService;

  beforeAll(async () => {
    service = await startHeldReferenceService({ maxFailures: 1_000_000, maxFailuresPerCaller: 1_000_000 });
    service.hashing.letGo();
  });
  afterAll(() => service.close());

  plainRow('JSON that is nested deeply gets 400 with an empty body, wherever the nesting is [O06]', async () => {
    const nestings = [
      ['['.repeat(100_000), ''],
      ['['.repeat(16_000), ''],
      ['['.repeat(7_900), ']'.repeat(7_900)],
      ['{"a":'.repeat(2_600), `1${'}'.repeat(2_600)}`],
      ['[{"a":'.repeat(2_000), `1${'}]'.repeat(2_000)}`],
      ['{"__proto__":'.repeat(1_000), `1${'}'.repeat(1_000)}`],
    ];
    for (const [open = '', close = ''] of nestings) {
      for (const body of [
        `${open}${close}`,
        `{"username":${open}${close},"password":"x"}`,
        `{"username":"manager","password":${open}${close}}`,
        `{"username":"manager","password":"manager-demo","more":${open}${close}}`,
        `{"__proto__":${open}${close},"username":"manager","password":"manager-demo"}`,
      ]) {
        expectEmpty(await post(service.url, body), 400);
      }
    }
    expect(service.hashing.started).toBe(0);
  });

  plainRow('a byte order mark, a repeated or an odd name, and fields that nobody knows change nothing [O06]', async () => {
    for (const body of [
      `\uFEFF${JSON.stringify(MANAGER)}`,
      '{"username":"x","username":"manager","password":"y","password":"manager-demo"}',
      '{"username":"manager","password":"manager-demo","__proto__":{"username":"x"},"constructor":{"prototype":null},"then":1}',
      '{"username":"manager","password":"manager-demo","toString":null,"hasOwnProperty":1,"more":[[{"deep":[1]}]]}',
    ]) {
      expectUserRecord(await post(service.url, body));
    }
    for (const body of [
      '{"__proto__":{"username":"manager","password":"manager-demo"}}',
      '{"__proto__":{"username":"manager"},"password":"manager-demo"}',
      '{"username":{"toString":1,"length":7},"password":"manager-demo"}',
      '{"username":["manager"],"password":["manager-demo"]}',
      '{"username":1e999,"password":true}',
      '[{"username":"manager","password":"manager-demo"}]',
    ]) {
      expectEmpty(await post(service.url, body), 400);
    }
  });

  plainRow('a body that is not UTF-8, or of no JSON media type, gets 400 with an empty body [O06]', async () => {
    const good = JSON.stringify(MANAGER);
    for (const body of [Buffer.from(`\uFEFF${good}`, 'utf16le'), Buffer.from('{"username":"\xff","password":"x"}', 'latin1'), '\0', '']) {
      expectEmpty(await post(service.url, body), 400);
    }
    const types = ['', 'text/json', 'application/jsonx', 'application/json, text/plain', 'multipart/form-data', 'application/json\t x'];
    for (const type of types) {
      const headers = { ...KEY, 'Content-Type': type };
      expectEmpty(await send(service.url, { method: 'POST', path: '/authentication', headers, body: good }), 400);
    }
  });

  plainRow('a body in chunks that do not end gets 400 with an empty body once it is too long [O06]', async () => {
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

  plainRow('whatever JSON comes, the answer is 200, 400 or 401 [O06]', async () => {
    const names = fc.constantFrom('username', 'password', '__proto__', 'constructor', 'toJSON', 'then', '');
    const values = fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 6 }), fc.constantFrom('manager', '\ud800', '\0'));
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
