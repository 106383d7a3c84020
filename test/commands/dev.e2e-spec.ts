import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get, request, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { platforms, startApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { startCommand, written, type CommandRun } from './command-run.js';

interface Dev extends CommandRun {
  readonly url: string;
  readonly signIn: (
    username: string,
    password: string,
    headers?: Record<string, string>,
  ) => Promise<Response>;
  readonly tokenOf: (username: string, password: string) => Promise<string>;
  readonly userDetails: (token: string) => Promise<Response>;
  readonly control: (
    path: string,
    body?: unknown,
  ) => Promise<{ status: number; body: Record<string, unknown> }>;
}

describe('nestjs-session-auth-cli dev', () => {
  const running: CommandRun[] = [];

  async function start(
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Dev> {
    const run = startCommand(['dev', '--port', '0', ...args], env);
    running.push(run);
    const [, url = ''] = await written(run, /(http:\/\/\S+)/);
    const headers = { 'x-api-key': env.SESSION_SERVICE_API_KEY ?? 'any-key' };
    const signIn: Dev['signIn'] = (username, password, others) =>
      fetch(`${url}/authentication`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', ...others },
        body: JSON.stringify({ username, password }),
      });
    return {
      ...run,
      url,
      signIn,
      tokenOf: async (username, password) =>
        ((await (await signIn(username, password)).json()) as { auth_token: string }).auth_token,
      userDetails: (token) =>
        fetch(`${url}/authentication/user_details`, { headers: { ...headers, 'x-auth-token': token } }),
      control: async (path, body) => {
        const init =
          body === undefined
            ? {}
            : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
        const reply = await fetch(`${url}/_dev${path}`, init);
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
      const { signIn, userDetails, url } = await start([
        '--user',
        'bob:hunter2:new_hire',
        '--user',
        'eve:secret:hiring_manager:approver',
      ]);
      const signedIn = await signIn('eve', 'secret');
      const record = (await signedIn.json()) as { auth_token: string };
      expect(record).toMatchObject({
        username: 'eve',
        role: 'hiring_manager',
        sub_role: 'approver',
        client_name: 'Example Client',
      });
      expect(record.auth_token).toMatch(/^test-[0-9a-f-]{36}$/);

      const details = await userDetails(record.auth_token);
      expect([details.status, await details.json()]).toEqual([200, record]);
      const signOut = { method: 'DELETE', headers: { 'x-api-key': 'k', 'x-auth-token': record.auth_token } };
      const statuses = [
        await fetch(`${url}/authentication/`, signOut),
        await fetch(`${url}/authentication`, signOut),
      ];
      expect(statuses.map(({ status }) => status)).toEqual([200, 401]);
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

    it('reads users with whole records from a file', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'dev-'));
      await writeFile(
        join(folder, 'users.json'),
        JSON.stringify([{ username: 'bob', password: 'hunter2', ats_enabled: true, badge: 7 }]),
      );
      const { signIn, out } = await start(['--users', join(folder, 'users.json')]);
      await rm(folder, { recursive: true });
      expect(await (await signIn('bob', 'hunter2')).json()).toMatchObject({
        username: 'bob',
        ats_enabled: true,
        badge: 7,
      });
      expect(out()).toMatch(/users +bob\n/);
    });

    it.each<[status: number, what: string, answer: (dev: Dev) => Promise<Response>]>([
      [401, 'an unknown user', ({ signIn }) => signIn('constructor', 'secret')],
      [403, 'a request without an application key', ({ url }) => fetch(`${url}/authentication/user_details`)],
    ])('answers %s to %s, with an empty body', async (status, _what, answer) => {
      const reply = await answer(await start());
      expect([reply.status, await reply.text()]).toEqual([status, '']);
    });

    it('answers 404 with a body to another path, which the guard takes for a wrong `baseUrl`', async () => {
      const { url } = await start();
      const reply = await fetch(`${url}/other`, { headers: { 'x-api-key': 'k' } });
      expect([reply.status, await reply.text()]).toEqual([404, 'no such path']);
    });

    it('accepts only the application key of SESSION_SERVICE_API_KEY', async () => {
      const { signIn } = await start([], { SESSION_SERVICE_API_KEY: 'the-key' });
      expect((await signIn('ann', 'secret')).status).toBe(200);
      expect((await signIn('ann', 'secret', { 'x-api-key': 'another' })).status).toBe(403);
    });
  });

  describe('answers only to its own hosts', () => {
    const statusFor = async (url: string, path: string, host?: string): Promise<number | undefined> => {
      const request = get(`${url}${path}`, {
        headers: { 'x-api-key': 'k', ...(host !== undefined && { host }) },
      });
      const [reply] = (await once(request, 'response')) as [IncomingMessage];
      reply.resume();
      return reply.statusCode;
    };

    it.each([
      'rebound.example',
      'rebound.example:3100',
      'localhost.rebound.example',
      '127.0.0.1.rebound.example',
      'a@localhost',
      'sessions',
    ])('and with 421 to the Host "%s", at every path, also while it fails [P47]', async (host) => {
      const dev = await start();
      const control = await statusFor(dev.url, '/_dev', host);
      await dev.control('/fail', { as: 503 });
      const statuses = [
        control,
        await statusFor(dev.url, '/authentication/user_details', host),
        await statusFor(dev.url, '/', host),
      ];
      expect(statuses).toEqual([421, 421, 421]);
    });

    it('and changes nothing for a page of a foreign name [P47]', async () => {
      const { tokenOf, userDetails, url } = await start();
      const token = await tokenOf('ann', 'secret');
      const headers = { host: 'rebound.example', 'content-type': 'application/json' };
      const revoke = request(`${url}/_dev/revoke`, { method: 'POST', headers }).end('{}');
      const [reply] = (await once(revoke, 'response')) as [IncomingMessage];
      expect([reply.statusCode, JSON.parse(await text(reply))]).toEqual([
        421,
        {
          message:
            'This host is not known. Use localhost or an IP address, or start dev with --allow-host NAME.',
        },
      ]);
      expect((await userDetails(token)).status).toBe(200);
    });

    it.each([
      'localhost',
      'LOCALHOST:1',
      'app.localhost',
      '127.0.0.1:1',
      '[::1]:1',
      '10.1.2.3',
      'sessions:3100',
      'host.docker.internal',
    ])('such as the Host "%s"', async (host) => {
      const { url } = await start(['--allow-host', 'Sessions', '--allow-host', 'host.docker.internal']);
      expect(await statusFor(url, '/_dev', host)).toBe(200);
    });

    it('such as the name that it listens on', async () => {
      const { url } = await start(['--host', 'localhost']);
      expect(await statusFor(url, '/_dev')).toBe(200);
    });
  });

  describe('is controlled over HTTP', () => {
    it('ends a session, those of a user, and all', async () => {
      const { control, tokenOf, userDetails } = await start(['--user', 'ann:a', '--user', 'bob:b']);
      const tokens = [
        await tokenOf('ann', 'a'),
        await tokenOf('ann', 'a'),
        await tokenOf('ann', 'a'),
        await tokenOf('bob', 'b'),
      ];
      const alive = async () => (await Promise.all(tokens.map(userDetails))).map(({ status }) => status);

      expect(await control('/revoke', { token: tokens[0] })).toMatchObject({
        status: 200,
        body: { sessions: 3 },
      });
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

    it('answers late', async () => {
      const { control, userDetails } = await start();
      await control('/delay', { ms: 300 });
      const sentAtMs = performance.now();
      expect((await userDetails('any')).status).toBe(401);
      expect(performance.now() - sentAtMs).toBeGreaterThanOrEqual(290);
      expect(await control('')).toMatchObject({ body: { delay: 300 } });
    });

    it('shows users without passwords', async () => {
      const { control } = await start(['--user', 'bob:hunter2']);
      const { status, body } = await control('');
      expect(status).toBe(200);
      expect(body).toEqual({
        users: [expect.objectContaining({ username: 'bob' })],
        sessions: 0,
        delay: 0,
        fail: null,
      });
      expect(JSON.stringify(body)).not.toContain('hunter2');
    });

    it.each<[path: string, body: unknown]>([
      ['/delay', {}],
      ['/delay', { ms: -1 }],
      ['/delay', { ms: 1e9 }],
      ['/fail', {}],
      ['/fail', { as: 200 }],
      ['/fail', { as: 'other' }],
      ['/revoke', { token: 7 }],
      ['/revoke', []],
    ])('answers 400 with a remedy: %s %j', async (path, body) => {
      const { control } = await start();
      expect(await control(path, body)).toEqual({
        status: 400,
        body: { message: expect.stringMatching(/^Send /) },
      });
    });

    it('accepts no control request that a page of another origin could send', async () => {
      const { url, control } = await start();
      const reply = await fetch(`${url}/_dev/fail`, { method: 'POST', body: '{"as":503}' });
      expect([reply.status, (await control('')).body.fail]).toEqual([400, null]);
    });
  });

  it.each(platforms('Fastify'))('suffices for a guarded application on %s', async (_name, platform) => {
    const { url, tokenOf, control } = await start();
    const app = await startApp(platform, sampleApp({ baseUrl: url }));
    try {
      const token = await tokenOf('ann', 'secret');
      expect([(await app.get('/me', token)).status, (await app.get('/me', 'junk')).status]).toEqual([
        200, 401,
      ]);
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
      [
        'for a user without a password',
        ['--user', 'ann'],
        {},
        '--user must be NAME:PASSWORD[:ROLE[:SUB_ROLE]].',
      ],
      ['for a file that is not there', ['--users', '/does/not/exist'], {}, "the file can't be read (ENOENT)"],
      ['for a file that is not JSON', ['--users', 'README.md'], {}, 'valid JSON.'],
      [
        'for a file without a list of users',
        ['--users', 'package.json'],
        {},
        'a JSON array of user records.',
      ],
      [
        'for a host that is no name',
        ['--allow-host', 'http://sessions'],
        {},
        '--allow-host must be a host name without scheme and port.',
      ],
      [
        'for a host with a port',
        ['--allow-host', 'sessions:3100'],
        {},
        '--allow-host must be a host name without scheme and port.',
      ],
    ])('with 2 %s', async (_why, args, env, message) => {
      const run = startCommand(['dev', ...args], env);
      expect([await run.exitCode, run.out()]).toEqual([2, '']);
      expect(run.err()).toContain(message);
    });

    it('with 1 if its port is in use, and names the remedy', async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const run = startCommand(['dev', '--port', String(port)]);
      expect([await run.exitCode, run.err()]).toEqual([
        1,
        `Port ${port} on 127.0.0.1 is in use. Stop the program that listens there, or set --port.\n`,
      ]);
      other.close();
    });
  });
});
