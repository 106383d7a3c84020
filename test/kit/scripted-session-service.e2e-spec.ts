import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SessionAuthService } from 'nestjs-session-auth';
import {
  aUserRecord,
  reply,
  startSessionService,
  type ScriptedSessionService,
} from 'nestjs-session-auth/testing';
import { platforms, startApp, type RunningApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { until } from '../support/until.js';

const started: { close(): Promise<void> }[] = [];

function keep<Kept extends { close(): Promise<void> }>(kept: Kept): Kept {
  started.push(kept);
  return kept;
}

afterEach(async () => {
  for (const one of started.splice(0).reverse()) await one.close();
});

async function userDetails(url: string, token: string): Promise<number> {
  return (await fetch(`${url}/authentication/user_details`, { headers: { 'x-auth-token': token } })).status;
}

function signIn(url: string, body: string): Promise<Response> {
  return fetch(`${url}/authentication`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });
}

async function signOut(url: string, token: string): Promise<number> {
  return (await fetch(`${url}/authentication`, { method: 'DELETE', headers: { 'x-auth-token': token } }))
    .status;
}

describe('a scripted session service', () => {
  it('opens a new session for each signInAs(), also after a revocation', async () => {
    const service = keep(await startSessionService());
    const revoked = service.signInAs({ username: 'ann' });
    service.revoke(revoked);
    const current = service.signInAs({ username: 'ann' });

    expect([await userDetails(service.url, revoked), await userDetails(service.url, current)]).toEqual([
      401, 200,
    ]);
  });

  it('ends a session at its sign-out, and answers a second one with 401', async () => {
    const { url, signInAs } = bound(keep(await startSessionService()));
    const [token, other] = [signInAs(), signInAs()];

    expect([await signOut(url, token), await signOut(url, token)]).toEqual([200, 401]);
    expect([await userDetails(url, token), await userDetails(url, other)]).toEqual([401, 200]);
  });

  it('signs in the users that were added', async () => {
    const service = keep(await startSessionService());
    service.addUser({ username: 'ann', password: 'secret' }, { role: 'recruiter' });
    const signedIn = await signIn(service.url, JSON.stringify({ username: 'ann', password: 'secret' }));
    const { auth_token, ...record } = (await signedIn.json()) as { auth_token: string };

    expect(record).toEqual({ username: 'ann', role: 'recruiter' });
    expect(await userDetails(service.url, auth_token)).toBe(200);
    for (const [body, status] of [
      ['{"username":"ann","password":"wrong"}', 401],
      ['{"username":"bob","password":"secret"}', 401],
      ['{"username":"bob"}', 400],
      ['null', 400],
      ['{', 400],
    ] as const) {
      expect((await signIn(service.url, body)).status).toBe(status);
    }
  });

  it('ends the sessions of a user, and no other', async () => {
    const service = keep(await startSessionService());
    const [first, second, other] = ['ann', 'ann', 'bob'].map((username) =>
      service.signInAs({ username }),
    ) as [string, string, string];
    service.endUser('ann');

    expect(await Promise.all([first, second, other].map((token) => userDetails(service.url, token)))).toEqual(
      [401, 401, 200],
    );
  });

  it.each(['', '/', '/api', '/api/v2/', 'api'])(
    'answers below its base path %p, and elsewhere with 404',
    async (basePath) => {
      const { url, signInAs } = bound(keep(await startSessionService({ basePath })));
      const token = signInAs();

      expect(new URL(url).pathname).toBe(
        basePath === '/api/v2/' ? '/api/v2' : basePath.length > 1 ? '/api' : '/',
      );
      expect(await userDetails(url, token)).toBe(200);
      expect(await userDetails(`${url}/wrong`, token)).toBe(404);
      if (new URL(url).pathname !== '/') expect(await userDetails(new URL(url).origin, token)).toBe(404);
      expect((await signIn(`${url}/wrong`, '{}')).status).toBe(404);
      expect(await signOut(`${url}/wrong`, token)).toBe(404);
      expect(await userDetails(url, token)).toBe(200);
    },
  );

  it('resets connections while it is down, regardless of its scripts', async () => {
    const service = keep(await startSessionService());
    service.on('user_details', reply(403));
    service.setDown(true);
    await expect(userDetails(service.url, 'token')).rejects.toThrow('fetch failed');
    service.setDown(false);
    expect(await userDetails(service.url, 'token')).toBe(403);
  });

  it('leaves no server and no connection open after close(), also if it is closed twice', async () => {
    const service = keep(await startSessionService());
    const client = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => undefined);
    client.write('GET /authentication/user_details HTTP/1.1\r\n');
    await until('the service has a connection', () => service.connections() === 1);
    const ended = new Promise((resolve) => client.once('close', resolve));
    await Promise.all([service.close(), service.close()]);
    await ended;
    await service.idle();
    await expect(userDetails(service.url, 'token')).rejects.toMatchObject({
      cause: { code: 'ECONNREFUSED' },
    });
  });
});

function bound(service: ScriptedSessionService) {
  return { url: service.url, signInAs: (username = 'ann') => service.signInAs({ username }) };
}

describe.each(platforms('Fastify'))(
  'an application with a scripted session service on %s',
  (_name, platform) => {
    const start = async (baseUrl: string): Promise<RunningApp> =>
      keep(await startApp(platform, sampleApp({ baseUrl })));

    it('is unavailable if its `baseUrl` has a wrong path', async () => {
      const service = keep(await startSessionService({ basePath: '/api' }));
      const token = service.signInAs();
      const [right, wrong, none] = await Promise.all(
        [service.url, `${service.url}/wrong`, new URL(service.url).origin].map(start),
      );

      expect((await right?.get('/me', token))?.status).toBe(200);
      expect((await wrong?.get('/me', token))?.status).toBe(503);
      expect((await none?.get('/me', token))?.status).toBe(503);
    });

    it('signs users in and out without a script', async () => {
      const service = keep(await startSessionService());
      service.addUser({ username: 'ann', password: 'secret' }, aUserRecord({ username: 'ann' }));
      const running = await start(service.url);
      const sessions = running.app.get(SessionAuthService);
      const result = await sessions.signIn({ username: 'ann', password: 'secret' });
      const token = result.kind === 'signed-in' ? result.token : '';

      expect((await running.get('/me', token)).status).toBe(200);
      await sessions.signOut(token);
      expect((await running.get('/me', token)).status).toBe(401);
      await sessions.signOut(token);
    });
  },
);
