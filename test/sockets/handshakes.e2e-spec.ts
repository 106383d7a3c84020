import { describe, expect, it } from '@jest/globals';
import { fromCookie, fromHeader, SessionAuthService } from 'nestjs-session-auth';
import { SessionSockets, type SocketClient } from 'nestjs-session-auth/sockets';
import { afterDelay, hold, json, reply, silence } from '../support/scripted-service.js';
import { inLongForm } from '../support/long-form.js';
import { until } from '../support/until.js';
import { LIBRARIES, socketTrial } from './socket-trial.js';

const ANN = { username: 'ann' };
/** Much longer than a handshake. */
const SLOW_MS = inLongForm('a service that takes 2 s, instead of 0.5 s, for a handshake') ? 2_000 : 500;

describe.each(LIBRARIES)('sockets of %s', (name, library) => {
  const trial = socketTrial(library);
  const isWs = name === 'ws';

  /** Tries, and shows that nothing of the application reached the client. */
  async function denied(token?: string): Promise<{ statusCode: number; code: string }> {
    const before = trial.feed.connected.length;
    const attempt = await trial.attempt(token);
    expect({ opened: attempt.opened, messages: attempt.messages }).toEqual({ opened: false, messages: [] });
    expect(trial.feed.connected).toHaveLength(before);
    const { denial = { statusCode: 0, code: '' } } = attempt;
    if (isWs) {
      expect(attempt.status).toBe(denial.statusCode);
      expect(attempt.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
      });
    }
    attempt.close();
    return denial;
  }

  it('a socket without a valid token is denied at the handshake, receives no broadcast and never reaches the gateway [P03]', async () => {
    await trial.start();

    expect(await denied()).toMatchObject({ statusCode: 401, code: 'SESSION_REQUIRED' });
    for (const token of ['', 'not a token', 'junk', 'x'.repeat(5_000)]) {
      expect(await denied(token)).toMatchObject({
        statusCode: 401,
        code: token === '' ? 'SESSION_REQUIRED' : 'SESSION_REJECTED',
      });
    }
    await trial.empty();
  });

  it('a denied handshake has the status, the headers and the body of the guard [P03]', async () => {
    await trial.start({ breaker: false });
    const headersOf = async (token?: string) => (await trial.attempt(token)).headers ?? {};
    const challenge = 'X-Auth-Token realm="session"';

    trial.service.on('user_details', reply(403));
    expect(await denied('some-token')).toMatchObject({ statusCode: 403, code: 'ACCESS_DENIED' });
    trial.service.on('user_details', reply(500));
    expect(await denied('other-token')).toMatchObject({
      statusCode: 503,
      code: 'SESSION_SERVICE_UNAVAILABLE',
    });
    if (isWs) {
      expect(await headersOf('third-token')).toMatchObject({ 'retry-after': expect.stringMatching(/^\d+$/) });
      expect(await headersOf()).toMatchObject({ 'www-authenticate': challenge });
      expect(await headersOf('not a token')).toMatchObject({
        'www-authenticate': `${challenge}, error="invalid_token"`,
      });
    } else expect(await denied('third-token')).toMatchObject({ retryAfterSeconds: expect.any(Number) });
  });

  it('a handshake with a cookie from a page of another origin is denied with 403 without a call, with any fields [P20]', async () => {
    const trusted = 'https://app.example.com';
    await trial.start({
      token: [fromHeader('x-auth-token'), fromCookie('sid', { trustedOrigins: [trusted] })],
    });
    const token = trial.service.signInAs({});
    const [host, callsBefore] = [new URL(trial.url).host, trial.service.callsTo('user_details')];
    trial.feed.connected.length = 0;
    const open = (headers: Record<string, string>, header?: string) =>
      trial.attempt(header, {
        extraHeaders: { cookie: `sid=${token}`, ...headers },
        auth: { origin: trusted, 'sec-fetch-site': 'same-origin' },
      });
    const refused = { opened: false, denial: { statusCode: 403, code: 'CROSS_ORIGIN_DENIED' } };

    for (const origin of [
      'https://evil.example',
      'null',
      `http://${host}.evil.example`,
      'http://127.0.0.1:1',
    ])
      expect(await open({ origin })).toMatchObject(refused);
    expect(await open({ origin: `http://${host}`, 'sec-fetch-site': 'same-site' })).toMatchObject(refused);
    expect(await open({ origin: 'https://proxied.example', 'sec-fetch-site': 'same-origin' })).toMatchObject(
      refused,
    );
    expect(trial.service.callsTo('user_details')).toBe(callsBefore);
    expect(trial.feed.connected).toEqual([]);

    for (const headers of [
      {},
      { origin: `http://${host}` },
      { origin: trusted },
      { 'sec-fetch-site': 'same-origin', origin: `http://${host}` },
    ])
      expect(await open(headers as Record<string, string>)).toMatchObject({ opened: true });
    expect(await open({ origin: 'https://evil.example' }, token)).toMatchObject({ opened: true });
  });

  it('a socket receives nothing while its token is checked, and is known to the gateway when it opens [P03]', async () => {
    for (const delayMs of [20, SLOW_MS]) {
      trial.feed.connected.length = 0;
      const app = await trial.start();
      trial.service.on('user_details', afterDelay(delayMs, json(ANN)));
      const attempt = trial.attempt(`token-${delayMs}`);
      await until('the check', () => trial.counts().waiting === 1);
      expect(trial.feed.connected).toEqual([]);
      const { opened, messages } = await attempt;

      expect(opened).toBe(true);
      expect(trial.feed.connected).toEqual(['ann']);
      await until('a message', () => messages.length > 0);
      await app.close();
    }
  });

  it('a service that never answers denies the handshake with 503 at the deadline [P03]', async () => {
    await trial.start({ timeoutMs: 300 });
    trial.service.on('user_details', silence);

    expect(await denied('some-token')).toMatchObject({
      statusCode: 503,
      code: 'SESSION_SERVICE_UNAVAILABLE',
    });
    await trial.empty();
  });

  it('a client that disconnects while its token is checked leaves nothing behind [P03]', async () => {
    const { app } = await trial.start();
    const held = hold(json(ANN));
    trial.service.on('user_details', held.script);
    await leaveDuringCheck(trial.url, isWs, () => held.arrived);
    await until('the end of the handshake', () => trial.counts().waiting === 0);
    held.release();

    trial.service.on('user_details', json(ANN));
    expect((await trial.attempt('next-token')).opened).toBe(true);
    expect(trial.feed.connected).toEqual(['ann']);
    expect(app.get(SessionSockets).countSockets()).toEqual({ watched: 1, waiting: 0 });
  });

  it('a handshake is checked once, though its server is protected twice and the gateway calls guard besides [P03]', async () => {
    const { app } = await trial.start();
    app.get(SessionSockets).protect(trial.feed.server as object);
    trial.feed.guards = true;
    await trial.attempt(trial.service.signInAs({}));
    const [client] = trial.feed.clients as [SocketClient];

    expect(await app.get(SessionSockets).watch(client)).toMatchObject({ username: 'ann' });
    expect(trial.service.callsTo('user_details')).toBe(1);
  });

  it('an application that closes while handshakes wait denies them, and closes [P03]', async () => {
    const { app } = await trial.start({ timeoutMs: 1_000 });
    trial.service.on('user_details', silence);
    const attempt = trial.attempt('some-token').catch(() => ({ opened: false, messages: [] }));
    await until('the check', () => trial.counts().waiting === 1);
    await app.close();

    expect(await attempt).toMatchObject({ opened: false, messages: [] });
    expect(trial.counts()).toEqual({ watched: 0, waiting: 0 });
  });

  const checked = (times: number): Promise<void> =>
    until(`${times} checks`, () => trial.service.callsTo('user_details') === times);

  it('a message that finds its session refused is denied and ends the socket, with the cache off [P04]', async () => {
    await trial.start();
    const token = trial.service.signInAs({});
    const attempt = await trial.attempt(token);
    await checked(1);
    trial.service.revoke(token);
    attempt.send('me');

    expect(await attempt.closed).toMatchObject({ statusCode: 401, code: 'SESSION_REJECTED' });
    expect(attempt.messages.filter((message) => message.includes('answer'))).toEqual([]);
    await trial.empty();
  });

  it('a request over HTTP that finds the session refused ends its sockets, and no other [P04]', async () => {
    const { app } = await trial.start();
    const [token, other] = [trial.service.signInAs({}), trial.service.signInAs({})];
    const [first, second] = [await trial.attempt(token), await trial.attempt(other)];
    await checked(2);
    trial.service.revoke(token);
    await expect(app.get(SessionAuthService).verify(token)).rejects.toMatchObject({
      code: 'SESSION_REJECTED',
    });

    expect(await first.closed).toMatchObject({ statusCode: 401 });
    second.send('public');
    await until('an answer', () => second.messages.some((message) => message.includes('answer')));
  });

  it('neither an outage nor a rule of the handler ends the socket [P04]', async () => {
    await trial.start({ breaker: false });
    const token = trial.service.signInAs({ role: 'new_hire' });
    const attempt = await trial.attempt(token);
    await checked(1);
    trial.service.on('user_details', reply(500));
    attempt.send('me');
    await checked(2);
    trial.service.on('user_details', json({ ...ANN, role: 'new_hire' }));
    attempt.send('managers');
    await checked(3);
    attempt.send('me');

    await until('the answer', () => attempt.messages.some((message) => message.includes('"username":"ann"')));
    expect(trial.counts().watched).toBe(1);
  });
});

/** Begins a handshake and breaks it off while it is checked. */
async function leaveDuringCheck(url: string, isWs: boolean, checked: () => Promise<unknown>): Promise<void> {
  const { WebSocket } = await import('ws');
  const headers = { 'x-auth-token': 'some-token' };
  const path = isWs ? '' : '/socket.io/?EIO=4&transport=websocket';
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers });
  socket.on('error', () => undefined);
  if (!isWs) socket.once('message', () => socket.send('40'));
  await checked();
  socket.terminate();
}
