import { afterEach, describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { SessionAuthService, type SessionAuthOptions } from 'nestjs-session-auth';
import { Agent, request } from 'undici';
import { NEST_MAJOR } from '../support/nest-major.js';
import { PLATFORMS, type RunningApp } from '../support/platforms.js';
import { type ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { openReply, type OpenReply } from './open-reply.js';
import { checksOf, Sources, StreamsController } from './streams.controller.js';

const NEVER_MS = 3_600_000;
const SOON_MS = 20;

const LAST_EVENT =
  'event: session-ended\ndata: {"statusCode":401,"code":"SESSION_REJECTED","message":"The session is not valid"}\n\n';

const EVENTS = ['sse', 'own-events'];
const DOWNLOADS = [
  'file',
  'own',
  'admitted-twice',
  ...(NEST_MAJOR === 12 ? ['generator', 'readable', 'web'] : []),
];

describe.each(PLATFORMS)('on %s, what a session has open', (_name, platform) => {
  const open: OpenReply[] = [];
  let service: ScriptedService;
  let app: RunningApp;

  afterEach(() => {
    for (const each of open.splice(0)) each.leave();
  });
  // Closes applications, after the streams.
  const bed = testbed(platform);

  async function start(options: Partial<SessionAuthOptions> = {}): Promise<SessionAuthService> {
    service = await bed.service();
    app = await bed.sample({
      baseUrl: service.url,
      options: { retry: false, breaker: false, ...options },
      controllers: [StreamsController],
      providers: [Sources],
    });
    return app.app.get(SessionAuthService);
  }

  async function read(path: string, token: string): Promise<OpenReply> {
    const stream = await openReply(`${app.url}/${path}`, token);
    open.push(stream);
    await until('two parts have arrived', () => stream.text().split('part').length > 2);
    return stream;
  }

  const lateHandler = (): Promise<void> =>
    until('the late handler runs', () => app.app.get(Sources).waiting.length === 1);
  const begin = (): void => app.app.get(Sources).begin();

  /** Waits for as many rechecks of a session: what is checked as often would have been, too. */
  function rechecks(token: string, count: number): Promise<void> {
    const before = checksOf(service, token);
    return until(`${count} rechecks`, () => checksOf(service, token) >= before + count);
  }

  it('begins without a check besides that of the guard', async () => {
    await start();
    await read('sse', service.signInAs({}, 'ann-token'));
    expect(checksOf(service, 'ann-token')).toBe(1);
  });

  async function expectLastEvent(events: OpenReply): Promise<void> {
    expect(await events.over()).toBe('complete');
    expect(events.text().endsWith(LAST_EVENT)).toBe(true);
  }
  async function expectCut(download: OpenReply): Promise<void> {
    expect(await download.over()).toBe('cut');
    await until('its source is closed', () => app.app.get(Sources).running === 0);
  }

  it.each(EVENTS)('is ended by a sign-out with an event that says so: %s [P39]', async (path) => {
    const sessions = await start();
    const events = await read(path, service.signInAs({}, 'ann-token'));
    await sessions.signOut('ann-token');
    await expectLastEvent(events);
  });

  it.each(DOWNLOADS)('is cut by a sign-out: %s [P39]', async (path) => {
    const sessions = await start();
    const download = await read(path, service.signInAs({}, 'ann-token'));
    await sessions.signOut('ann-token');
    await expectCut(download);
  });

  it.each<[string, (sessions: SessionAuthService) => unknown]>([
    ['forget, if the session service does not know it any more', (sessions) => sessions.forget('ann-token')],
    ['forgetUser', (sessions) => sessions.forgetUser('ann')],
    ['forgetAll', (sessions) => sessions.forgetAll()],
    ['a check that is refused', () => app.get('/file', 'ann-token')],
    ['a recheck that finds the session gone', () => undefined],
  ])('is ended by %s [P39]', async (name, end) => {
    const sessions = await start({
      whileOpen: { recheckMs: name.startsWith('a recheck') ? SOON_MS : NEVER_MS },
    });
    service.signInAs({ username: 'ann' }, 'ann-token');
    const [events, download] = [await read('sse', 'ann-token'), await read('file', 'ann-token')];
    service.revoke('ann-token');
    await end(sessions);
    await expectLastEvent(events);
    await expectCut(download);
  });

  it.each(EVENTS)('is ended with a connection that its client does not use again: %s', async (path) => {
    const sessions = await start();
    const dispatcher = new Agent({ connections: 1 });
    const call = (name: string, token: string, method: 'GET' | 'POST') =>
      request(`${app.url}/${name}`, { dispatcher, method, headers: { 'x-auth-token': token } });
    const token = service.signInAs({});
    const events = await call(path, token, 'GET');
    await sessions.signOut(token);

    expect(await events.body.text()).toContain('session-ended');
    expect((await call('sign-out', service.signInAs({}), 'POST')).statusCode).toBe(201);
    await dispatcher.close();
  });

  it('is not checked again if its client has gone before the first part', async () => {
    await start({ cache: false, whileOpen: { recheckMs: SOON_MS } });
    const leaving = new AbortController();
    const token = service.signInAs({});
    const headers = { 'x-auth-token': token };
    const late = fetch(`${app.url}/late-events`, { headers, signal: leaving.signal });
    await lateHandler();
    leaving.abort();
    await expect(late).rejects.toThrow('aborted');
    const other = service.signInAs({});
    await read('sse', other);
    begin();
    await rechecks(other, 10);

    expect(checksOf(service, token)).toBe(1);
  });

  it('is over if its connection closes while it waits for another reply', async () => {
    await start({ cache: false, whileOpen: { recheckMs: SOON_MS } });
    const requestOf = (token: string): string =>
      `GET /own HTTP/1.1\r\nHost: localhost\r\nX-Auth-Token: ${token}\r\n\r\n`;
    const client = connect(Number(new URL(app.url).port), new URL(app.url).hostname);
    const both = [service.signInAs({}), service.signInAs({})];
    const checks = (): number[] => both.map((token) => checksOf(service, token));
    client.write(both.map(requestOf).join(''));
    await until('both are checked again', () => checks().every((count) => count > 2));
    client.destroy();
    const other = service.signInAs({});
    await read('sse', other);
    await rechecks(other, 5);
    const before = checks();
    await rechecks(other, 5);

    expect(checks()).toEqual(before);
  });

  it.each(['plain', 'event-stream'])(
    'is destroyed, with what waits for its client, although that reads nothing: text/%s [P51]',
    async (type) => {
      const sessions = await start();
      const token = service.signInAs({});
      const { hostname, port } = new URL(app.url);
      const client = connect(Number(port), hostname).pause();
      client.write(`GET /unread/${type} HTTP/1.1\r\nHost: localhost\r\nX-Auth-Token: ${token}\r\n\r\n`);
      const sources = app.app.get(Sources);
      await until('it is written', () => sources.running === 1);
      await sessions.signOut(token);
      await until('it is destroyed', () => sources.running === 0);

      client.destroy();
    },
  );

  it('is sent if the handler has ended the session itself, and its reply is complete', async () => {
    await start();
    const farewell = await openReply(`${app.url}/sign-out`, service.signInAs({}), 'POST');

    expect(await farewell.over()).toBe('complete');
    expect([farewell.status, farewell.text()]).toEqual([201, 'goodbye']);
  });

  it('outlives it with @KeepOpen()', async () => {
    const sessions = await start();
    const token = service.signInAs({});
    const [kept, other] = [await read('kept', token), await read('file', token)];
    await sessions.signOut(token);
    await other.over();
    const soFar = kept.text().length;

    await until('more arrives', () => kept.text().length > soFar);
  });
});
