import { afterEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { startReferenceService } from 'session-service';
import type { Report } from '../../libs/session-auth-cli/src/doctor/report.js';
import { runCommand } from '../../libs/session-auth-cli/src/run-command.js';
import { freePort } from '../support/server-process.js';
import { issueCertificate } from '../support/certificates.js';
import { askGuard } from './ask-guard.js';
import { captureIo, type CapturedIo } from './captured-io.js';
import { API_KEY, OddService, USER, type Habits } from './odd-service.js';

const ENV = { SESSION_SERVICE_API_KEY: API_KEY, SESSION_SERVICE_PASSWORD: USER.password };
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

interface Closable {
  close(): Promise<void>;
}

const started: Closable[] = [];
afterEach(async () => {
  for (const closable of started.splice(0)) await closable.close();
});

async function serve(habits?: Habits): Promise<OddService> {
  const service = await OddService.start(habits);
  started.push(service);
  return service;
}

async function examine(
  args: readonly string[],
  io: CapturedIo = captureIo(ENV),
): Promise<Report & { code: number }> {
  const code = await runCommand(['doctor', '--json', '--timeout', '2000', ...args], io);
  return { ...(JSON.parse(io.out()) as Report), code };
}

const outcomes = ({ checks }: Report): Record<string, string> =>
  Object.fromEntries(checks.map(({ id, outcome }) => [id, outcome]));

describe('the doctor', () => {
  it('lists the checks that need a user as unknown if there is none, and opens no session', async () => {
    const service = await serve();
    const report = await examine(['--url', service.url]);
    expect(report.code).toBe(0);
    expect(outcomes(report)).toMatchObject({
      'sign-in': 'unknown',
      latency: 'unknown',
      iv: 'unknown',
      guard: 'unknown',
      'junk-token': 'ok',
      'wrong-key': 'ok',
    });
    expect(service.signIns).toEqual([]);
    expect(service.calls).toBeLessThan(8);
    expect(await askGuard({ baseUrl: service.url, ...report.options }, service.issue())).toEqual([200, 401]);
  });

  it('makes no further call once the service limits the rate', async () => {
    const service = await serve({ answer: (usual, { number }) => (number === 0 ? usual : { status: 429 }) });
    expect(outcomes(await examine(['--url', service.url]))).toMatchObject({ 'rate-limit': 'fail' });
    expect(service.calls).toBe(2);
  });

  it('prints the options as code, its findings and the unknown, without colours in a pipe', async () => {
    const service = await serve({ answer: (usual) => (usual.status === 401 ? { status: 403 } : usual) });
    const io = captureIo(ENV);
    expect(await runCommand(['doctor', '--url', service.url], io)).toBe(0);
    expect(io.out()).toContain(
      'ok       junk-token: user_details answers 403 to a token that was never issued.\n',
    );
    expect(io.out()).toContain('\nCould not be determined:\n\nunknown  sign-in: ');
    expect(io.out()).toMatch(
      /\nOptions that follow:\n\nSessionAuthModule\.forRoot\(\{\n {2}baseUrl: 'http:\/\/127\.0\.0\.1:\d+\/api',\n {2}apiKey: process\.env\.SESSION_SERVICE_API_KEY \?\? '',\n {2}statusMap: \{ 403: 'unauthenticated' \},\n\}\);\n$/,
    );
    expect(io.out()).not.toContain('\u001b');
  });

  it.each([
    [404, 'check --user and SESSION_SERVICE_PASSWORD, and the path of --url. It is not tried again'],
    [401, 'check --user and SESSION_SERVICE_PASSWORD. It is not tried again'],
  ])('says what to check when the sign-in answers %p', async (status, advice) => {
    const service = await serve({ answer: () => ({ status }) });
    const { checks } = await examine(['--url', service.url, '--user', USER.username]);
    expect(checks.find(({ id }) => id === 'sign-in')?.text).toContain(
      `The sign-in answers ${status}: ${advice}`,
    );
  });

  it.each([
    [[], 'Set --url to the root of the session service: an http or https URL.'],
    [['--url', 'ftp://a'], 'Set --url to the root of the session service: an http or https URL.'],
    [['--url', 'http://ann:secret@a'], '--url must not hold a user, a password, a query or a fragment.'],
    [['--url', 'http://a/?key=secret'], '--url must not hold a user, a password, a query or a fragment.'],
    [['--url', 'http://a/authentication/'], '--url must end before /authentication.'],
    [['--url', 'http://a', '--timeout', '0'], '--timeout must be a number of milliseconds from 1 to 300000.'],
    [['--url', 'http://a', '--redis', 'http://a'], '--redis must be a redis: or rediss: URL.'],
    [
      ['--url', 'http://a', '--redis', 'redis://u:secret@a'],
      '--redis must not hold a password. Set REDIS_PASSWORD.',
    ],
  ])('refuses %j with exit code 2: %s', async (args, sentence) => {
    const io = captureIo(ENV);
    expect([await runCommand(['doctor', ...args], io), io.out(), io.err()]).toEqual([2, '', `${sentence}\n`]);
  });

  it.each([
    [{}, 'Set SESSION_SERVICE_API_KEY to the application key: 1 to 4096 visible ASCII characters.'],
    [
      { SESSION_SERVICE_API_KEY: 'a key' },
      'Set SESSION_SERVICE_API_KEY to the application key: 1 to 4096 visible ASCII characters.',
    ],
    [{ SESSION_SERVICE_API_KEY: 'key' }, 'Set SESSION_SERVICE_PASSWORD to the password of --user.'],
  ])('refuses the environment %j with exit code 2: %s', async (env, sentence) => {
    const io = captureIo(env);
    expect([await runCommand(['doctor', '--url', 'http://a', '--user', 'ann'], io), io.err()]).toEqual([
      2,
      `${sentence}\n`,
    ]);
  });
});

describe('an interrupted doctor', () => {
  it('signs its session out, and makes no further call', async () => {
    const io = captureIo(ENV);
    const service = await serve({
      write: (_usual, call) => {
        if (call.operation === 'user_details' && call.isSession) io.interrupt();
        return call.operation === 'user_details' && call.isSession;
      },
    });
    const report = await examine(['--url', service.url, '--user', 'ann'], io);
    expect(report.code).toBe(1);
    expect(outcomes(report)).toMatchObject({ interrupted: 'fail' });
    expect(service.sessions.size).toBe(0);
    expect(service.signIns).toEqual(['ann']);
  });

  it('waits for the reply of a sign-in in flight, and signs out', async () => {
    const io = captureIo(ENV);
    const service = await serve({
      write: (usual, call, response) => {
        if (call.operation !== 'sign_in') return false;
        io.interrupt();
        setTimeout(() => response.writeHead(usual.status, usual.headers).end(usual.body), 100);
        return true;
      },
    });
    const report = await examine(['--url', service.url, '--user', 'ann'], io);
    expect([report.code, service.sessions.size, service.signIns]).toEqual([1, 0, ['ann']]);
    expect(outcomes(report)).toMatchObject({ interrupted: 'fail' });
  });

  it('that has not signed in yet opens no session', async () => {
    const io = captureIo(ENV);
    const service = await serve({
      write: (_usual, call) => (call.number === 1 ? (io.interrupt(), false) : false),
    });
    const report = await examine(['--url', service.url, '--user', 'ann'], io);
    expect([report.code, service.signIns]).toEqual([1, []]);
  });
});

describe('a sign-in without a reply', () => {
  it('may have opened a session, which the doctor prints', async () => {
    const service = await serve({ write: (_usual, call) => call.operation === 'sign_in' });
    const report = await examine(['--url', service.url, '--user', 'ann', '--timeout', '300']);
    expect(report.checks.find(({ id }) => id === 'sign-in')?.text).toContain(
      'A session may have been opened; its token is unknown.',
    );
  });

  it('may have opened a session if the doctor was interrupted, too', async () => {
    const io = captureIo(ENV);
    const service = await serve({
      write: (_usual, call) => {
        if (call.operation === 'sign_in') io.interrupt();
        return call.operation === 'sign_in';
      },
    });
    const report = await examine(['--url', service.url, '--user', 'ann', '--timeout', '300'], io);
    expect(outcomes(report)).toMatchObject({ 'sign-in': 'fail', interrupted: 'fail' });
    expect(io.out()).toContain('A session may have been opened; its token is unknown.');
  });
});

describe('a service that ends a session only for its IV', () => {
  it('has no session left, because the doctor signs out with the IV', async () => {
    const [opened, ended]: [string[], string[]] = [[], []];
    const service = await serve({
      answer: (usual, { operation, authIv }) => {
        if (operation === 'sign_out' && authIv !== undefined && usual.status === 200) ended.push(authIv);
        if (operation === 'sign_in' && authIv !== undefined) opened.push(authIv);
        return usual;
      },
    });
    const report = await examine(['--url', service.url, '--user', 'ann']);
    expect([report.code, service.sessions.size, ended]).toEqual([0, 0, opened]);
    expect(opened).toHaveLength(1);
  });
});

describe('the doctor cannot reach a service', () => {
  const textOf = ({ checks }: Report, id: string): string | undefined =>
    checks.find((check) => check.id === id)?.text;

  it('whose host name does not resolve', async () => {
    const report = await examine(['--url', 'http://no-such-host.invalid/api']);
    expect([report.code, textOf(report, 'reachable')]).toEqual([
      1,
      expect.stringMatching(/^The host name does not resolve\..*\((?:ENOTFOUND|EAI_AGAIN)\)$/),
    ]);
    expect(outcomes(report)['plain-text']).toBe('warn');
  });

  it('whose port is closed, and prints that the proxy of the environment is ignored', async () => {
    const port = await freePort();
    const io = captureIo({ ...ENV, HTTP_PROXY: 'http://user:proxy-password@127.0.0.1:9' });
    const report = await examine(['--url', `http://127.0.0.1:${port}`], io);
    expect([report.code, textOf(report, 'reachable')]).toEqual([
      1,
      expect.stringContaining('(ECONNREFUSED)'),
    ]);
    expect(textOf(report, 'proxy')).toMatch(/^HTTP_PROXY: set, and ignored here and by the library\./);
    expect(io.out()).not.toContain('proxy-password');
  });

  it('over TLS if the certificate is self-signed, or if one side speaks no TLS', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'doctor-tls-'));
    try {
      const tls = issueCertificate(folder, { address: 'IP:127.0.0.1' });
      const service = await serve({ tls });
      const plain = await serve();
      const [selfSigned, toPlain, fromPlain] = await Promise.all([
        examine(['--url', service.url]),
        examine(['--url', plain.url.replace('http:', 'https:')]),
        examine(['--url', service.url.replace('https:', 'http:')]),
      ]);
      expect(textOf(selfSigned, 'tls')).toContain('(DEPTH_ZERO_SELF_SIGNED_CERT)');
      expect(textOf(toPlain, 'tls')).toMatch(/^The TLS handshake fails\./);
      expect(textOf(fromPlain, 'reachable')).toMatch(/\((?:ECONNRESET|HPE_\w+|INVALID_REPLY)\)$/);
      expect([selfSigned.code, toPlain.code, fromPlain.code]).toEqual([1, 1, 1]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the doctor finds', () => {
  (hasIpv6 ? it : it.skip)('a service that listens on IPv6 alone', async () => {
    const service = await serve({ host: '::1' });
    const report = await examine(['--url', service.url, '--user', 'ann']);
    expect([report.code, report.options]).toEqual([
      0,
      { baseUrl: service.url, statusMap: { 403: 'unavailable' } },
    ]);
    expect(await askGuard({ baseUrl: service.url, ...report.options }, service.issue())).toEqual([200, 401]);
  });

  it('the options of the reference service, and leaves no session there', async () => {
    const service = await startReferenceService({ logger: false });
    started.push(service);
    const io = captureIo({
      SESSION_SERVICE_API_KEY: 'demo-api-key',
      SESSION_SERVICE_PASSWORD: 'manager-demo',
    });
    // A sign-in hashes a password, which takes long on a busy machine.
    const report = await examine(['--url', service.url, '--user', 'manager', '--timeout', '120000'], io);
    expect({ fails: report.checks.filter(({ outcome }) => outcome === 'fail'), code: report.code }).toEqual({
      fails: [],
      code: 0,
    });
    expect(outcomes(report)).toMatchObject({ guard: 'ok', 'token-echo': 'ok', 'ended-token': 'ok' });
    const headers = { 'content-type': 'application/json', 'x-api-key': 'demo-api-key' };
    const body = JSON.stringify({ username: 'manager', password: 'manager-demo' });
    const signedIn = (await (
      await fetch(`${service.url}/authentication`, { method: 'POST', headers, body })
    ).json()) as {
      auth_token: string;
    };
    expect(
      await askGuard({ baseUrl: service.url, ...report.options }, signedIn.auth_token, 'demo-api-key'),
    ).toEqual([200, 401]);
  });
});
