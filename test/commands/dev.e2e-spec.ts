import { get, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { EXPRESS, startApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { startCommand, written, type CommandRun } from './command-run.js';

describe('nestjs-session-auth-cli dev', () => {
  const running: CommandRun[] = [];

  async function start(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
    const run = startCommand(['dev', '--port', '0', ...args], env);
    running.push(run);
    const [, url = ''] = await written(run, /(http:\/\/\S+)/);
    const headers = { 'x-api-key': env.SESSION_SERVICE_API_KEY ?? 'any-key' };
    const post = (path: string, body: unknown, others = {}): Promise<Response> =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', ...others },
        body: JSON.stringify(body),
      });
    const signIn = (username: string, password: string, others = {}): Promise<Response> =>
      post('/authentication', { username, password }, others);
    return {
      ...run,
      url,
      signIn,
      tokenOf: async (username: string, password: string): Promise<string> =>
        ((await (await signIn(username, password)).json()) as { auth_token: string }).auth_token,
      userDetails: (token: string): Promise<Response> =>
        fetch(`${url}/authentication/user_details`, { headers: { ...headers, 'x-auth-token': token } }),
      control: async (path: string, body?: unknown) => {
        const reply = await (body === undefined ? fetch(`${url}/_dev${path}`) : post(`/_dev${path}`, body));
        return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
      },
    };
  }

  afterEach(async () => {
    for (const run of running) run.interrupt();
    await Promise.all(running.splice(0).map(({ exitCode }) => exitCode));
  });

  describe('serves the interface', () => {
    it('signs users in and out, and returns their records', async () => {
      const users = ['--user', 'bob:hunter2:new_hire', '--user', 'eve:secret:hiring_manager:approver'];
      const { signIn, userDetails, url } = await start(users);
      const signedIn = await signIn('eve', 'secret');
      const record = (await signedIn.json()) as { auth_token: string };
      expect(record).toMatchObject({ username: 'eve', role: 'hiring_manager', sub_role: 'approver' });
      expect(record.auth_token).toMatch(/^test-[0-9a-f-]{36}$/);

      const details = await userDetails(record.auth_token);
      expect([details.status, await details.json()]).toEqual([200, record]);
      const signOut = { method: 'DELETE', headers: { 'x-api-key': 'k', 'x-auth-token': record.auth_token } };
      for (const status of [200, 401])
        expect((await fetch(`${url}/authentication/`, signOut)).status).toBe(status);
      expect((await userDetails(record.auth_token)).status).toBe(401);
    });

    it('has the user ann by default, and prints so', async () => {
      const { signIn, out } = await start();
      expect(await (await signIn('ann', 'secret')).json()).toMatchObject({
        username: 'ann',
        role: 'hiring_manager',
      });
      expect(out()).toContain('ann:secret:hiring_manager');
    });

    it('accepts only the application key of SESSION_SERVICE_API_KEY, or any, but needs one', async () => {
      const { signIn } = await start([], { SESSION_SERVICE_API_KEY: 'the-key' });
      const replies = [
        await signIn('ann', 'secret'),
        await signIn('constructor', 'secret'),
        await signIn('ann', 'secret', { 'x-api-key': 'another' }),
        await fetch(`${(await start()).url}/authentication/user_details`),
      ];
      expect(replies.map(({ status }) => status)).toEqual([200, 401, 403, 403]);
    });
  });

  describe('answers only to its own hosts', () => {
    const statusFor = async (url: string, path: string, host: string): Promise<number | undefined> => {
      const call = get(`${url}${path}`, { headers: { 'x-api-key': 'k', host } });
      const [reply] = (await once(call, 'response')) as [IncomingMessage];
      reply.resume();
      return reply.statusCode;
    };

    it('and with 421 to any other, at every path, also while it fails [P47]', async () => {
      const dev = await start();
      for (const host of [
        'rebound.example:3100',
        'localhost.rebound.example',
        '127.0.0.1.rebound.example',
        'a@localhost',
      ]) {
        await dev.control('/reset', {});
        const control = await statusFor(dev.url, '/_dev', host);
        await dev.control('/fail', { as: 503 });
        const details = await statusFor(dev.url, '/authentication/user_details', host);
        expect([host, control, details]).toEqual([host, 421, 421]);
      }
    });

    it('and changes nothing for a page of a foreign name [P47]', async () => {
      const { tokenOf, userDetails, url } = await start();
      const token = await tokenOf('ann', 'secret');
      const headers = { host: 'rebound.example', 'content-type': 'application/json' };
      const revoke = request(`${url}/_dev/revoke`, { method: 'POST', headers }).end('{}');
      const [reply] = (await once(revoke, 'response')) as [IncomingMessage];
      const { message } = JSON.parse(await text(reply)) as { message: string };
      expect([reply.statusCode, message]).toEqual([
        421,
        expect.stringContaining('start dev with --allow-host NAME'),
      ]);
      expect((await userDetails(token)).status).toBe(200);
    });

    it('such as localhost, an IP address and a name that is allowed', async () => {
      const { url } = await start(['--allow-host', 'Sessions', '--allow-host', 'host.docker.internal']);
      for (const host of [
        'LOCALHOST:1',
        'app.localhost',
        '[::1]:1',
        '10.1.2.3',
        'sessions:3100',
        'host.docker.internal',
      ])
        expect([host, await statusFor(url, '/_dev', host)]).toEqual([host, 200]);
    });
  });

  describe('is controlled over HTTP', () => {
    it('ends a session, those of a user, and all', async () => {
      const { control, tokenOf, userDetails } = await start(['--user', 'ann:a', '--user', 'bob:b']);
      const tokens: string[] = [];
      for (const name of ['ann', 'ann', 'ann', 'bob']) tokens.push(await tokenOf(name, name.slice(0, 1)));
      const alive = async () => (await Promise.all(tokens.map(userDetails))).map(({ status }) => status);

      expect((await control('/revoke', { token: tokens[0] })).body).toMatchObject({ sessions: 3 });
      expect(await alive()).toEqual([401, 200, 200, 200]);
      await control('/revoke', { username: 'ann' });
      expect(await alive()).toEqual([401, 401, 401, 200]);
      await control('/revoke', {});
      expect(await alive()).toEqual([401, 401, 401, 401]);
    });

    it('fails with a status, a reset or silence, until it is reset', async () => {
      const dev = await start();
      const { control, userDetails } = dev;
      await control('/fail', { as: 503 });
      expect((await userDetails('any')).status).toBe(503);
      await control('/fail', { as: 'reset' });
      await expect(userDetails('any')).rejects.toThrow('fetch failed');
      await control('/fail', { as: 'silence' });
      const silent = userDetails('any').catch(() => 'closed');
      await written(dev, /\nsilence GET/);
      expect(await control('/reset', {})).toMatchObject({ body: { fail: null, delay: 0 } });
      expect((await userDetails('any')).status).toBe(401);
      dev.interrupt();
      expect(await silent).toBe('closed');
    });

    it('shows users without passwords', async () => {
      const { control } = await start(['--user', 'bob:hunter2']);
      const { status, body } = await control('');
      const users = [expect.objectContaining({ username: 'bob' })];
      expect([status, body]).toEqual([200, { users, sessions: 0, delay: 0, fail: null }]);
      expect(JSON.stringify(body)).not.toContain('hunter2');
    });

    it.each([
      ['/delay', { ms: 1e9 }],
      ['/fail', { as: 200 }],
      ['/revoke', { token: 7 }],
    ])('answers 400 with a remedy: %s %j', async (path, body) => {
      const { control } = await start();
      const message = expect.stringMatching(/^Send /);
      expect(await control(path, body)).toEqual({ status: 400, body: { message } });
    });

    it('accepts no control request that a page of another origin could send', async () => {
      const { url, control } = await start();
      const reply = await fetch(`${url}/_dev/fail`, { method: 'POST', body: '{"as":503}' });
      expect([reply.status, (await control('')).body.fail]).toEqual([400, null]);
    });
  });

  it('suffices for a guarded application', async () => {
    const { url, tokenOf, control } = await start();
    const app = await startApp(EXPRESS, sampleApp({ baseUrl: url }));
    try {
      const token = await tokenOf('ann', 'secret');
      for (const [presented, status] of [
        [token, 200],
        ['junk', 401],
      ] as const)
        expect((await app.get('/me', presented)).status).toBe(status);
      await control('/fail', { as: 'reset' });
      expect((await app.get('/me', token)).status).toBe(503);
    } finally {
      await app.close();
    }
  });

  it('prints a line for each request, without a secret, unless it is quiet', async () => {
    const [loud, quiet] = [await start(), await start(['--quiet'])];
    for (const { tokenOf, userDetails } of [loud, quiet]) await userDetails(await tokenOf('ann', 'secret'));
    expect(loud.out()).toMatch(/\n200 POST \/authentication\n200 GET \/authentication\/user_details\n$/);
    expect(quiet.out()).toMatch(/\n\n$/);
  });

  describe('ends', () => {
    it('with 0 when it is interrupted, and frees its port', async () => {
      const dev = await start();
      dev.interrupt();
      expect(await dev.exitCode).toBe(0);
      await expect(fetch(dev.url)).rejects.toThrow('fetch failed');
    });

    it.each<[why: string, args: string[], env: Record<string, string>, message: string]>([
      ['in production', [], { NODE_ENV: 'production' }, 'does not run with NODE_ENV=production'],
      ['for a port that is none', ['--port', '70000'], {}, '--port must be 0 to 65535.'],
      ['for a file that is not JSON', ['--users', 'README.md'], {}, 'valid JSON.'],
    ])('with 2 %s', async (_why, args, env, message) => {
      const run = startCommand(['dev', ...args], env);
      expect([await run.exitCode, run.out()]).toEqual([2, '']);
      expect(run.err()).toContain(message);
    });
  });
});
