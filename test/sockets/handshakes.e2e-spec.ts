import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fromCookie, fromHeader, SessionAuthService } from 'nestjs-session-auth';
import { WebSocket } from 'ws';
import { afterDelay, hold, json, silence } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { SOCKET_IO, WS } from './peers.js';
import { LIBRARIES, socketTrial } from './socket-trial.js';

const ANN = { username: 'ann' };
/** Much longer than a handshake. */
const SLOW_MS = 500;
const NEWS_EVERY_MS = 2;

describe.each(LIBRARIES)('sockets of %s', (name, library) => {
  const trial = socketTrial(library);
  const isWs = name === 'ws';

  it('a socket without a valid token is denied at the handshake, receives no broadcast and never reaches the gateway [P03]', async () => {
    await trial.start();
    for (const token of [undefined, '', 'not a token', 'junk', 'x'.repeat(5_000)]) {
      const { opened, messages, denial, status } = await trial.attempt(token);
      const code = token === undefined || token === '' ? 'SESSION_REQUIRED' : 'SESSION_REJECTED';
      expect({ opened, messages, denial, status }).toMatchObject({
        opened: false,
        messages: [],
        denial: { statusCode: 401, code },
        status: isWs ? 401 : undefined,
      });
    }
    expect(trial.feed.connected).toEqual([]);
    await trial.empty();
  });

  it('a handshake with a cookie from a page of another origin is denied with 403 without a call, with any fields [P20]', async () => {
    const trusted = 'https://app.example.com';
    const token = [fromHeader('x-auth-token'), fromCookie('sid', { trustedOrigins: [trusted] })];
    await trial.start({ token });
    const sid = trial.service.signInAs({});
    const own = trial.url;
    const open = (headers: Record<string, string>, header?: string) =>
      trial.attempt(header, {
        extraHeaders: { cookie: `sid=${sid}`, ...headers },
        auth: { origin: trusted, 'sec-fetch-site': 'same-origin' },
      });

    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: own, 'sec-fetch-site': 'same-site' },
      { origin: 'https://proxied.example', 'sec-fetch-site': 'same-origin' },
    ] as Record<string, string>[])
      expect(await open(headers)).toMatchObject({
        opened: false,
        denial: { statusCode: 403, code: 'CROSS_ORIGIN_DENIED' },
      });
    expect([trial.service.callsTo('user_details'), trial.feed.connected]).toEqual([0, []]);

    for (const headers of [{}, { origin: own }, { origin: trusted }] as Record<string, string>[])
      expect(await open(headers)).toMatchObject({ opened: true });
    expect(await open({ origin: 'https://evil.example' }, sid)).toMatchObject({ opened: true });
  });

  it('a socket receives nothing while its token is checked, and is known to the gateway when it opens [P03]', async () => {
    await trial.start();
    trial.service.on('user_details', afterDelay(SLOW_MS, json(ANN)));
    const attempt = trial.attempt('some-token');
    await until('the check', () => trial.counts().waiting === 1);
    expect(trial.feed.connected).toEqual([]);
    const { opened, messages } = await attempt;

    expect([opened, trial.feed.connected]).toEqual([true, ['ann']]);
    await until('a message', () => messages.length > 0);
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

  it('a message that finds its session refused is denied and ends the socket, with the cache off [P04]', async () => {
    await trial.start();
    const token = trial.service.signInAs({});
    const attempt = await trial.attempt(token);
    trial.service.revoke(token);
    attempt.send('me');

    expect(await attempt.closed).toMatchObject({ statusCode: 401, code: 'SESSION_REJECTED' });
    expect(attempt.messages.filter((message) => message.includes('answer'))).toEqual([]);
    await trial.empty();
  });

  it('a request over HTTP that finds the session refused ends its sockets, and no other [P04]', async () => {
    const { app } = await trial.start();
    const [token, other] = [trial.service.signInAs({}), trial.service.signInAs({})];
    const sockets = [await trial.attempt(token), await trial.attempt(token)];
    const second = await trial.attempt(other);
    trial.service.revoke(token);
    await expect(app.get(SessionAuthService).verify(token)).rejects.toThrow();

    for (const { closed } of sockets) expect(await closed).toMatchObject({ statusCode: 401 });
    second.send('public');
    await until('an answer', () => second.messages.some((message) => message.includes('answer')));
  });
});

describe('sockets of ws, whose client does not wait for the answer to its handshake', () => {
  const trial = socketTrial(WS);

  /** Sends the handshake and an event, masked with zeros, at once. Has all that comes back. */
  async function rawSocket(token: string, event: string) {
    const data = Buffer.from(JSON.stringify({ event }));
    const lines = [
      'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket',
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      `X-Auth-Token: ${token}\r\n\r\n`,
    ];
    const { hostname, port } = new URL(trial.url);
    const socket = connect({ host: hostname, port: Number(port) });
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).on('error', () => undefined);
    await once(socket, 'connect');
    const frame = [Buffer.from([0x81, 0x80 | data.length, 0, 0, 0, 0]), data];
    socket.write(Buffer.concat([Buffer.from(lines.join('\r\n')), ...frame]));
    return { socket, text: () => text };
  }

  it('what it sends reaches nothing if the handshake is denied [P03]', async () => {
    await trial.start();
    const { socket, text } = await rawSocket('junk', 'public');
    await once(socket, 'close');

    expect(text()).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
    expect(text()).not.toContain('answer');
    expect(trial.feed.connected).toEqual([]);
  });

  it('what it sends is handled when the handshake is accepted [P03]', async () => {
    await trial.start();
    const held = hold(json(ANN));
    trial.service.on('user_details', held.script);
    const { socket, text } = await rawSocket('some-token', 'me');
    await held.arrived;
    expect(text()).toBe('');
    trial.service.on('user_details', json(ANN));
    held.release();

    await until('the answer', () => text().includes('"username":"ann"'));
    expect(trial.feed.connected).toEqual(['ann']);
    socket.destroy();
    await trial.empty();
  });
});

/** A namespace of socket.io, as far as a test has to do with it. */
interface IoServer {
  of(name: string | RegExp): { emit(event: string, data: string): unknown };
}

describe('namespaces and connections of socket.io', () => {
  const trial = socketTrial(SOCKET_IO);
  const server = (): IoServer => trial.feed.server as unknown as IoServer;

  it('every namespace of a server is protected: present, created later, and dynamic [P03]', async () => {
    await trial.start();
    server().of('/later');
    server().of(/^\/dynamic-\d+$/);
    const broadcast = (): void =>
      ['/later', '/dynamic-1'].forEach((name) => server().of(name).emit('news', 'secret'));
    const timer = setInterval(broadcast, NEWS_EVERY_MS);
    const token = trial.service.signInAs({});
    try {
      for (const namespace of ['/', '/later', '/dynamic-1', '/dynamic-2']) {
        for (const presented of [undefined, 'junk'])
          expect(await trial.attemptIn(namespace, presented)).toMatchObject({
            opened: false,
            messages: [],
            denial: { statusCode: 401 },
          });
        expect((await trial.attemptIn(namespace, token)).opened).toBe(true);
      }
    } finally {
      clearInterval(timer);
    }
  });

  it('long polling is denied as websocket is, before and after an upgrade [P03]', async () => {
    await trial.start();
    const denied = { opened: false, messages: [], denial: { statusCode: 401 } };
    for (const transports of [['polling'], ['polling', 'websocket']]) {
      expect(await trial.attempt('junk', { transports })).toMatchObject(denied);
      expect((await trial.attempt(trial.service.signInAs({}), { transports })).opened).toBe(true);
    }
    expect(trial.feed.connected).toEqual(['ann', 'ann']);
  });

  it('repeated CONNECT packets open only the namespaces for which they present a session [P03]', async () => {
    await trial.start();
    server().of('/other');
    const socket = new WebSocket(`${trial.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`);
    const packets: string[] = [];
    socket.on('message', (packet: Buffer) => packets.push(packet.toString()));
    await once(socket, 'message');
    const having = (...starts: string[]): number =>
      packets.filter((packet) => starts.some((start) => packet.startsWith(start))).length;
    for (let index = 0; index < 50; index += 1)
      for (const namespace of ['', '/other,']) socket.send(`40${namespace}{"token":"junk-${index}"}`);
    await until('the answers', () => having('44') === 100);
    expect([having('42'), trial.feed.connected]).toEqual([0, []]);
    socket.send(`40/other,{"token":"${trial.service.signInAs({})}"}`);
    await until('the socket', () => having('40/other') > 0);

    expect(having('40{', '42[')).toBe(0);
    expect(trial.counts()).toEqual({ watched: 1, waiting: 0 });
    socket.terminate();
    await trial.empty();
  });
});
