import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { SessionAuthService } from 'nestjs-session-auth';
import { NestFactory } from '@nestjs/core';
import { CapturedLog } from '../support/captured-log.js';
import { issueCertificate } from '../support/certificates.js';
import { handClock } from '../support/hand-clock.js';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { sampleApp } from '../support/sample-app.js';

const COUNT = 8;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  jest.restoreAllMocks();
});

/** The certificate of a server that this process trusts until the end of the test. */
function trustedCertificate() {
  const folder = mkdtempSync(join(tmpdir(), 'dead-connections-'));
  const certificate = issueCertificate(folder, { address: 'IP:127.0.0.1' });
  rmSync(folder, { recursive: true });
  const { connect } = tls;
  const trusting = (options: object) => connect({ ...options, ca: certificate.cert });
  jest.spyOn(tls, 'connect').mockImplementation(trusting as typeof connect);
  return certificate;
}

describe('connections that a proxy drops while they are idle, and does not close,', () => {
  const clock = handClock();

  it('cost no check more than a second call, over https too [P63]', async () => {
    let [awaited, calls] = [COUNT, 0];
    let waiting: (() => void)[] = [];
    // Answers once so many calls have arrived, so that they have as many connections.
    const server = createServer(trustedCertificate(), (_request, response) => {
      calls += 1;
      response.setHeader('Keep-Alive', 'timeout=60');
      waiting.push(() => response.end('{"username":"ann"}'));
      if (waiting.length < awaited) return;
      for (const send of waiting) send();
      waiting = [];
    }).listen(0, '127.0.0.1');
    closing.push(() => server.close().closeAllConnections());
    await once(server, 'listening');
    const proxy = await MeddlingProxy.to((server.address() as AddressInfo).port);
    closing.push(() => proxy.close());
    const log = new CapturedLog();
    const options = { timeoutMs: 12_000, retry: false } as const;
    const root = sampleApp({ baseUrl: `https://127.0.0.1:${proxy.port}`, controllers: [], options });
    const app = await NestFactory.createApplicationContext(root, { logger: log, abortOnError: false });
    closing.push(() => app.close());
    const sessions = app.get(SessionAuthService);
    const checks = (name: string) =>
      Promise.all(Array.from({ length: COUNT }, (_none, index) => sessions.verify(`${name}-${index}`)));

    await checks('first');
    clock.advance(600);
    proxy.drop();
    [awaited, calls] = [1, 0];
    expect(await checks('second')).toHaveLength(COUNT);
    expect([calls, proxy.made]).toEqual([COUNT, 2 * COUNT]);
    expect(log.lines.filter((line) => line.startsWith('warn '))).toEqual([
      expect.stringContaining('connection lost: an idle connection to the session service was dead'),
    ]);
  });
});
