import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ConsoleLogger } from '@nestjs/common';
import {
  SessionAuthService,
  type SessionAuthOptions,
  fromHeader,
  type TokenSource,
} from 'nestjs-session-auth';
import { json, reply } from 'nestjs-session-auth/testing';
import { CapturedLog } from '../support/captured-log.js';
import { issueCertificate } from '../support/certificates.js';
import { platforms, startApp } from '../support/platforms.js';
import { errorOf } from '../support/caching-app.js';
import { sendRaw } from '../support/raw-request.js';
import { testbed } from '../support/testbed.js';
import { Printed } from '../support/trial/printed.js';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { redactedHeaders } from 'nestjs-session-auth/diagnostics';
import type { IncomingHttpHeaders } from 'node:http';
import { Writable } from 'node:stream';
import { sampleApp } from '../support/sample-app.js';

/** Text that would forge a log line, and colour a terminal. */
const FORGED = 'x\r\n\u001b[31m[Nest] 1 - LOG forged';
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

describe.each(platforms('Express'))('the log of the library on %s', (_name, platform) => {
  const bed = testbed(platform);

  /** An application of which the session service and a client try to write lines into the log. */
  async function provoke(log: CapturedLog | ConsoleLogger) {
    const service = await bed.service();
    const options: Partial<SessionAuthOptions> = { cache: { ttlMs: 1_000 } };
    const app = await bed.sample({ baseUrl: service.url, options }, { logger: log });
    for (const script of [
      reply(404, FORGED, { 'content-type': 'text/html' }),
      json({ username: 'ann', auth_token: FORGED }),
      json({ username: 'ann', role: [FORGED], [FORGED]: FORGED }),
      reply(200, JSON.stringify({ username: 'ann' }), {
        'content-type': 'application/json',
        'cache-control': 'no-store',
      }),
    ]) {
      service.on('user_details', script);
      await sendRaw(app.url, {
        path: '/me?forged',
        lines: ['X-Auth-Token: token', 'User-Agent: forged', 'X-Auth-IV: forged'],
      });
    }
    service.on('sign_in', reply(404, FORGED));
    await errorOf(app.app.get(SessionAuthService).signIn({ username: FORGED, password: FORGED }));
  }

  it('has no control character, and no text of a client or of the session service', async () => {
    const log = new CapturedLog();
    await provoke(log);
    const lines = log.lines.filter((line) => line.endsWith(' SessionAuth'));

    expect(lines.map((line) => line.split(':', 1)[0])).toEqual([
      'log start',
      'warn unexpected reply',
      'warn token mismatch',
      'warn invalid user record',
      'warn caching forbidden',
    ]);
    expect(lines.filter((line) => CONTROL.test(line) || line.includes('forged'))).toEqual([]);
  });

  it('is written to the logger of the application alone', async () => {
    const printed = new Printed();
    const log = new CapturedLog();
    try {
      await provoke(log);
      expect([log.having('warn', 'unexpected reply').length, printed.texts]).toEqual([1, []]);
    } finally {
      printed.restore();
    }
  });

  it("has one JSON object a line with Nest's JSON logger: time, level, context and message", async () => {
    const printed = new Printed();
    try {
      await provoke(new ConsoleLogger({ json: true, colors: false }));
    } finally {
      printed.restore();
    }
    const entries = printed.texts
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ context }) => context === 'SessionAuth');

    expect(entries.map(({ level }) => level)).toEqual(['log', 'warn', 'warn', 'warn', 'warn']);
    for (const entry of entries) {
      expect(entry).toMatchObject({
        message: expect.stringMatching(/^[a-z ]+: /),
        timestamp: expect.any(Number),
      });
    }
  });

  it('names the fault of a TLS connection once a minute', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'log-tls-'));
    const server = createServer(issueCertificate(folder, { address: 'IP:127.0.0.1' })).listen(0, '127.0.0.1');
    const log = new CapturedLog();
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const app = await bed.sample({ baseUrl: `https://127.0.0.1:${port}` }, { logger: log });
      for (const token of ['one', 'two']) expect((await app.get('/me', token)).status).toBe(503);
      await errorOf(app.app.get(SessionAuthService).signIn({ username: 'ann', password: 'x' }));

      expect(log.having('warn', 'TLS failure')).toEqual([
        expect.stringMatching(
          /^warn TLS failure: the connection to the session service failed with DEPTH_ZERO_SELF_SIGNED_CERT\. /,
        ),
      ]);
    } finally {
      server.close();
      rmSync(folder, { recursive: true });
    }
  });
});

const SECRET = 'S3cr3t-Value';

/** Returns the headers of a request and its response that pino, in Fastify, logs. */
async function logged(
  redact: string[],
  token: TokenSource,
  headers: Record<string, string>,
): Promise<string> {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const serializers = {
    req: (request: { readonly headers: IncomingHttpHeaders }) => ({ headers: request.headers }),
  };
  const platform = () => new FastifyAdapter({ logger: { level: 'info', stream, serializers, redact } });
  const app = await startApp(
    platform,
    sampleApp({ baseUrl: 'http://127.0.0.1:9', options: { token, retry: false } }),
  );
  await app.get('/me', undefined, { ...headers, 'x-request-id': 'visible' });
  await app.close();
  return lines.join('');
}

const everyHeader = {
  'X-AUTH-TOKEN': SECRET,
  'X-AUTH-IV': SECRET,
  'X-API-KEY': SECRET,
  Authorization: `Bearer ${SECRET}`,
  Cookie: `session=${SECRET}`,
};

describe('redactedHeaders()', () => {
  it('removes every header with a key, a token or an IV from the log lines of pino, and no other', async () => {
    expect(await logged([], fromHeader('x-auth-token'), everyHeader)).toContain(SECRET);

    const text = await logged(redactedHeaders(), fromHeader('x-auth-token'), everyHeader);
    expect(text).not.toContain(SECRET);
    expect(text).toContain('"x-request-id":"visible"');
  });
});
