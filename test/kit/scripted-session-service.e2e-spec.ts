import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  afterDelay,
  hold,
  inTurn,
  reply,
  startSessionService,
  type ScriptedSessionService,
} from 'nestjs-session-auth/testing';
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

const ANN = { username: 'ann', password: 'secret' };

/** Returns credentials with a further field, whose JSON has this length. */
function ofLength(length: number): object {
  return { ...ANN, more: 'a'.repeat(length - JSON.stringify({ ...ANN, more: '' }).length) };
}

/** Sends lines to a service. Returns what it sends until the connection ends. */
function exchange(service: ScriptedSessionService, ...lines: readonly string[]): Promise<string> {
  let received = '';
  return new Promise((resolve, reject) => {
    const client = connect(Number(new URL(service.url).port), '127.0.0.1').setEncoding('latin1');
    client.on('data', (chunk: string) => (received += chunk));
    client.on('error', reject);
    client.on('close', () => resolve(received));
    client.write(lines.join('\r\n'));
  });
}

describe('a scripted session service', () => {
  it('signs in the users that were added, and ends a session at its sign-out', async () => {
    const service = keep(await startSessionService());
    const { url } = service;
    service.addUser({ username: 'eve', password: 'secret' }, { role: 'recruiter' });
    const signedIn = await signIn(url, JSON.stringify({ username: 'eve', password: 'secret' }));
    const { auth_token, ...record } = (await signedIn.json()) as { auth_token: string };
    expect(record).toEqual({ username: 'eve', role: 'recruiter' });
    expect(await userDetails(url, auth_token)).toBe(200);
    expect([await signOut(url, auth_token), await signOut(url, auth_token)]).toEqual([200, 401]);
    expect(await userDetails(url, auth_token)).toBe(401);
    for (const [body, status] of [
      ['{"username":"eve","password":"wrong"}', 401],
      ['{"username":"bob"}', 400],
      ['{', 400],
    ] as const)
      expect((await signIn(url, body)).status).toBe(status);
  });

  it.each<[status: number, head: string, body?: unknown]>([
    [200, 'GET /authentication/user_details?fields=all'],
    [200, 'GET https://sessions.example.com:8443/authentication/user_details?a=/b?c'],
    [404, 'GET /http://sessions.example.com/authentication/user_details'],
    [404, 'POST /authentication/user_details'],
    [404, 'PUT /authentication', ANN],
    [200, 'POST /authentication/', ANN],
    [404, 'POST /authentication//', ANN],
    [200, 'POST /authentication JSON ; charset=utf-8', ANN],
    [400, 'POST /authentication text/application/json', ANN],
    [400, 'POST /authentication JSON', { ...ANN, username: '' }],
    [400, 'POST /authentication JSON', { ...ANN, password: 1 }],
    [200, 'POST /authentication JSON', ofLength(1_048_576)],
    [400, 'POST /authentication JSON', ofLength(1_048_577)],
  ])('answers %i to %s', async (status, head, ...[body]) => {
    const service = keep(await startSessionService());
    service.addUser({ username: 'ann', password: 'secret' }, {});
    const [method = '', path = '', type = 'JSON', ...more] = head.split(' ');
    const token = service.signInAs();
    const sent = body === undefined ? '' : JSON.stringify(body);
    const received = await exchange(
      service,
      `${method} ${path} HTTP/1.1`,
      'host: sessions.example.com',
      `x-auth-token: ${token}`,
      `content-type: ${[type.replace('JSON', 'application/json'), ...more].join(' ')}`,
      `content-length: ${Buffer.byteLength(sent)}`,
      'connection: close',
      '',
      sent,
    );
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(service.requests.map(({ body: kept }) => kept.length)).toEqual([Math.min(sent.length, 1_048_576)]);
  });

  it('answers by its scripts in turn, the last one from then on', async () => {
    const service = keep(await startSessionService());
    service.on('user_details', inTurn(reply(401), reply(403)));
    const statuses = [];
    for (let call = 0; call < 3; call += 1) statuses.push(await userDetails(service.url, 'token'));
    expect(statuses).toEqual([401, 403, 403]);
    expect([service.callsTo('user_details'), service.callsTo('sign_in')]).toEqual([3, 0]);
  });

  it('answers when the test releases its script', async () => {
    const service = keep(await startSessionService());
    const held = hold(reply(403));
    service.on('user_details', held.script);
    const first = userDetails(service.url, 'token');
    await held.arrived;
    service.on('user_details', afterDelay(1, reply(404)));
    expect(await userDetails(service.url, 'token')).toBe(404);
    held.release();
    expect(await first).toBe(403);
  });

  it('answers below its base path, and elsewhere with 404', async () => {
    const service = keep(await startSessionService({ basePath: 'api/' }));
    const token = service.signInAs();
    expect(new URL(service.url).pathname).toBe('/api');
    expect(await userDetails(service.url, token)).toBe(200);
    for (const elsewhere of [`${service.url}/wrong`, new URL(service.url).origin])
      expect([await userDetails(elsewhere, token), await signOut(elsewhere, token)]).toEqual([404, 404]);
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
