import { afterEach, describe, expect, it } from '@jest/globals';
import { runCommand } from '../../libs/session-auth-cli/src/run-command.js';
import { freePort } from '../support/server-process.js';
import { askGuard } from './ask-guard.js';
import { captureIo } from './captured-io.js';
import { ENV, runDoctor } from './doctor-run.js';
import { json, OddService, type Habits, type OddReply } from './odd-service.js';

const started: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const closable of started.splice(0)) await closable.close();
});

async function serve(habits?: Habits): Promise<OddService> {
  const service = await OddService.start(habits);
  started.push(service);
  return service;
}

describe('the doctor', () => {
  it('lists the checks that need a user as unknown if there is none, and opens no session', async () => {
    const service = await serve();
    const report = await runDoctor(service.url, []);
    expect(report.code).toBe(0);
    expect(report.outcomes).toMatchObject({
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
    expect((await runDoctor(service.url, [])).outcomes).toMatchObject({ 'rate-limit': 'fail' });
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

  it('advises a user where a 404 with a body could be the session service, and says what the guard does with it', async () => {
    const service = await serve({
      answer: (usual) => (usual.status >= 400 ? { ...json({}), status: 404 } : usual),
    });
    const { textOf } = await runDoctor(service.url, []);
    expect(textOf('session-service')).toContain('check the URL, or show with --user that users can sign in.');
    expect(textOf('bodies')).toBe(
      'Refusals have bodies (404), which the library does not read. A 404 with a body does not refuse a session: the caller gets 503, unless statusMap says what 404 means.',
    );
    expect((await runDoctor(service.url)).idsOf('fail')).not.toContain('session-service');
  });

  it.each<[args: string[], sentence: string, env?: Record<string, string>]>([
    [['--url', 'ftp://a'], 'Set --url to the root of the session service: an http or https URL.'],
    [['--url', 'http://ann:secret@a'], '--url must not hold a user, a password, a query or a fragment.'],
    [['--redis', 'redis://u:secret@a'], '--redis must not hold a password. Set REDIS_PASSWORD.'],
    [
      [],
      'Set SESSION_SERVICE_API_KEY to the application key: 1 to 4096 visible ASCII characters.',
      { SESSION_SERVICE_API_KEY: 'a key' },
    ],
  ])('refuses %j with exit code 2: %s', async (args, sentence, env = ENV) => {
    const io = captureIo(env);
    const code = await runCommand(['doctor', '--url', 'http://a', ...args], io);
    expect([code, io.out(), io.err()]).toEqual([2, '', `${sentence}\n`]);
  });
});

describe('an interrupted doctor', () => {
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
    const report = await runDoctor(service.url, undefined, io);
    expect([report.code, service.sessions.size, service.signIns]).toEqual([1, 0, ['ann']]);
    expect(report.outcomes).toMatchObject({ interrupted: 'fail' });
  });
});

describe('a redirect of user_details', () => {
  it('to another port carries neither key nor password there, and no other baseUrl is printed [P46]', async () => {
    const other = await serve();
    const location = `${other.url}/authentication/user_details`;
    const service = await serve({ answer: (): OddReply => ({ status: 308, headers: { location } }) });
    const { code, options, textOf, idsOf } = await runDoctor(service.url);
    expect([other.calls, options, code, idsOf('fail')]).toEqual([0, {}, 1, ['redirects']]);
    expect(textOf('redirects')).toBe(
      `user_details redirects to ${other.url}, and the library follows no redirect. Neither key nor password was sent there. If it is your session service, run again with that --url.`,
    );
  });
});

describe('a sign-in without a reply', () => {
  it.each([false, true])(
    'may have opened a session, which the doctor prints; interrupted: %p',
    async (interrupts) => {
      const io = captureIo(ENV);
      const service = await serve({
        write: (_usual, call) => {
          if (interrupts && call.operation === 'sign_in') io.interrupt();
          return call.operation === 'sign_in';
        },
      });
      const report = await runDoctor(service.url, ['--user', 'ann', '--timeout', '300'], io);
      expect(report.idsOf('fail')).toEqual(interrupts ? ['sign-in', 'interrupted'] : ['sign-in']);
      expect(report.textOf('sign-in')).toContain('A session may have been opened; its token is unknown.');
    },
  );
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
    const report = await runDoctor(service.url);
    expect([report.code, service.sessions.size, ended]).toEqual([0, 0, opened]);
    expect(opened).toHaveLength(1);
  });
});

describe('the doctor cannot reach a service', () => {
  it('whose host name does not resolve', async () => {
    const report = await runDoctor('http://no-such-host.invalid/api', []);
    expect([report.code, report.textOf('reachable')]).toEqual([
      1,
      expect.stringMatching(/^The host name does not resolve\..*\((?:ENOTFOUND|EAI_AGAIN)\)$/),
    ]);
    expect(report.outcomes['plain-text']).toBe('warn');
  });

  it('whose port is closed, and prints that the proxy of the environment is ignored', async () => {
    const port = await freePort();
    const io = captureIo({ ...ENV, HTTP_PROXY: 'http://user:proxy-password@127.0.0.1:9' });
    const report = await runDoctor(`http://127.0.0.1:${port}`, [], io);
    expect([report.code, report.textOf('reachable')]).toEqual([1, expect.stringContaining('(ECONNREFUSED)')]);
    expect(report.textOf('proxy')).toMatch(/^HTTP_PROXY: set, and ignored here and by the library\./);
    expect(io.out()).not.toContain('proxy-password');
  });
});
