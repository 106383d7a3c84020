import dns from 'node:dns';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { SessionAuthEvents, SessionAuthService } from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { issueCertificate } from '../support/certificates.js';
import { handClock } from '../support/hand-clock.js';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { sampleApp } from '../support/sample-app.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  jest.restoreAllMocks();
});

async function listening(server: Server, port = 0, host = '127.0.0.1') {
  server.listen(port, host);
  closing.push(() => server.close().closeAllConnections());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** An application that listens nowhere, and what it logs. */
async function application(baseUrl: string) {
  const log = new CapturedLog();
  const root = sampleApp({ baseUrl, controllers: [], options: { timeoutMs: 12_000, retry: false } });
  const app = await NestFactory.createApplicationContext(root, { logger: log, abortOnError: false });
  closing.push(() => app.close());
  return { log, sessions: app.get(SessionAuthService), events: app.get(SessionAuthEvents) };
}

/** Answers once so many calls have arrived, so that they have as many connections. */
function service(hint?: string) {
  let tokens: unknown[] = [];
  let waiting: (() => void)[] = [];
  let awaited = 1;
  const answer: RequestListener = ({ headers }, response) => {
    tokens.push(headers['x-auth-token']);
    if (hint) response.setHeader('Keep-Alive', hint);
    waiting.push(() => response.end('{"username":"ann"}'));
    if (waiting.length < awaited) return;
    for (const send of waiting) send();
    waiting = [];
  };
  const expectCalls = (count: number): void => void ([awaited, tokens] = [count, []]);
  return { answer, expectCalls, calls: () => tokens.length };
}

const [plain, secure] = ['http', 'https'];

describe('connections that a proxy drops while they are idle, and does not close,', () => {
  const clock = handClock();

  it.each([
    [60, plain, undefined],
    [8, secure, 'timeout=60'],
  ])(
    'cost no check more than a second call: %d over %s, Keep-Alive: %p [P63]',
    async (count, scheme, hint) => {
      const { answer, expectCalls, calls } = service(hint);
      const server = scheme === secure ? createTlsServer(trustedCertificate(), answer) : createServer(answer);
      const proxy = await MeddlingProxy.to(await listening(server));
      closing.push(() => proxy.close());
      const { log, sessions, events } = await application(`${scheme}://127.0.0.1:${proxy.port}`);
      const checks = (name: string) =>
        Promise.all(Array.from({ length: count }, (_none, index) => sessions.verify(`${name}-${index}`)));

      expectCalls(count);
      await checks('first');
      expect(proxy.made).toBe(count);
      clock.advance(600);
      proxy.drop();
      expectCalls(1);
      expect(await checks('second')).toHaveLength(count);
      expect([calls(), proxy.made]).toEqual([count, 2 * count]);
      expect(events.serviceStatus.breakers).toEqual({ known: 'closed', strangers: 'closed' });
      expect(log.lines.filter((line) => line.startsWith('warn '))).toEqual([
        expect.stringContaining('connection lost: an idle connection to the session service was dead'),
      ]);
    },
  );
});

/** The certificate of a server that this process trusts until the end of the test. */
function trustedCertificate() {
  const folder = mkdtempSync(join(tmpdir(), 'dead-connections-'));
  const certificate = issueCertificate(folder, { address: 'IP:127.0.0.1' });
  rmSync(folder, { recursive: true });
  const { connect } = tls;
  jest
    .spyOn(tls, 'connect')
    .mockImplementation(((options: object) =>
      connect({ ...options, ca: certificate.cert })) as typeof connect);
  return certificate;
}

describe('a session service whose name moves to another address', () => {
  const clock = handClock();

  it('is called there within a minute, and the end of the old one fails no check [P64]', async () => {
    const [before, after] = [service(), service()];
    const old = createServer(before.answer);
    const port = await listening(old);
    await listening(createServer(after.answer), port, '127.0.0.2');
    let address = '127.0.0.1';
    jest.spyOn(dns, 'lookup').mockImplementation(((_name: string, _options: object, found: Found) => {
      found(null, [{ address, family: 4 }]);
    }) as typeof dns.lookup);
    const { log, sessions } = await application(`http://sessions.test:${port}`);
    const check = (token: string) => sessions.verify(token);

    await check('first');
    address = '127.0.0.2';
    await check('second');
    expect([before.calls(), after.calls()]).toEqual([2, 0]);
    clock.advance(60_000);
    await check('third');
    expect([before.calls(), after.calls()]).toEqual([2, 1]);
    old.close();
    await check('fourth');
    expect([before.calls(), after.calls()]).toEqual([2, 2]);
    expect(log.lines.filter((line) => line.startsWith('warn '))).toEqual([]);
  });
});

type Found = (error: null, addresses: readonly { address: string; family: number }[]) => void;
