import { afterEach, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createBrotliDecompress } from 'node:zlib';
import { SessionAuthService } from 'nestjs-session-auth';
import { NEST_MAJOR } from '../support/nest-major.js';
import { PLATFORMS, type RunningApp } from '../support/platforms.js';
import { hold, inTurn, json, reply, type Script, type ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { compress } from './compress.js';
import { Sources, StreamsController } from './streams.controller.js';

const EVENTS = ['sse', 'own-events'];
const STREAMS = [...EVENTS, 'file', 'own', ...(NEST_MAJOR === 12 ? ['generator', 'readable', 'web'] : [])];
/** Their handlers wait for the test before the first part. */
const LATE = ['late-file', 'late-events', 'late-part'];

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
  readonly isOfUsedConnection: boolean;
}

describe.each(PLATFORMS)('a stream on %s whose session ends before its head is sent', (_name, platform) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let service: ScriptedService;
  let app: RunningApp;
  let sessions: SessionAuthService;
  let sources: Sources;

  afterEach(() => agent.destroy());
  const bed = testbed(platform);

  async function start(configure?: (application: INestApplication) => void): Promise<string> {
    service = await bed.service();
    app = await bed.sample(
      {
        baseUrl: service.url,
        options: { retry: false, breaker: false },
        controllers: [StreamsController],
        providers: [Sources],
      },
      configure && { configure },
    );
    [sessions, sources] = [app.app.get(SessionAuthService), app.app.get(Sources)];
    return service.signInAs({});
  }

  /** Rejects if the connection is cut. All requests of a test have one connection. */
  async function call(path: string, token: string, method = 'GET'): Promise<Answer> {
    const headers = { 'x-auth-token': token, 'accept-encoding': 'br' };
    const sent = request(`${app.url}/${path}`, { agent, method, headers }).end();
    const [received] = (await once(sent, 'response')) as [IncomingMessage];
    const isCompressed = received.headers['content-encoding'] === 'br';
    return {
      status: received.statusCode ?? 0,
      headers: received.headers,
      body: await text(isCompressed ? received.pipe(createBrotliDecompress()) : received),
      isOfUsedConnection: sent.reusedSocket,
    };
  }

  /** Signs out while the check of a request is under way. `later` is what the service answers then. */
  async function endDuringCheck(
    path: string,
    token: string,
    later: Script,
    method?: string,
  ): Promise<Answer> {
    const held = hold(json({ username: 'ann' }));
    service.on('user_details', inTurn(held.script, later));
    const answer = call(path, token, method);
    await held.arrived;
    await sessions.signOut(token);
    held.release();
    return answer;
  }

  /** Signs out while the handler runs. */
  async function endDuringHandler(path: string, token: string): Promise<Answer> {
    const answer = call(path, token);
    await until('the handler runs', () => sources.waiting.length === 1);
    await sessions.signOut(token);
    sources.begin();
    return answer;
  }

  /** The headers that all denials have. */
  function usual({ headers }: Answer): object {
    return { ...headers, date: '', etag: '' };
  }

  const closed = (): Promise<void> => until('its source is closed', () => sources.running === 0);

  it.each(STREAMS)('is denied as ever: %s [P75]', async (path) => {
    const token = await start();
    const denied = await endDuringCheck(path, token, reply(401));
    await closed();
    const next = await call(path, token);

    expect([denied.status, denied.body]).toEqual([401, next.body]);
    expect(JSON.parse(denied.body)).toMatchObject({ code: 'SESSION_REJECTED' });
    // Nest.js recognises by the end of the connection that a client of events has gone.
    const connection = { connection: 'close', 'keep-alive': undefined };
    expect(usual(denied)).toEqual({ ...usual(next), ...(EVENTS.includes(path) && connection) });
    expect([next.status, next.isOfUsedConnection]).toEqual([401, !EVENTS.includes(path)]);
  });

  it.each(LATE)('while its handler is under way, is denied: %s [P75]', async (path) => {
    const token = await start();
    const denied = await endDuringHandler(path, token);
    await closed();
    const next = await call('file', token);

    expect([denied.status, denied.body]).toEqual([401, next.body]);
    expect(denied.headers).not.toHaveProperty('content-disposition');
    expect([next.status, next.isOfUsedConnection]).toEqual([401, path !== 'late-events']);
  });

  it('is denied with 503 if the session service fails then', async () => {
    const denied = await endDuringCheck('file', await start(), reply(500));

    expect([denied.status, 'retry-after' in denied.headers]).toEqual([503, true]);
    expect(JSON.parse(denied.body)).toMatchObject({ code: 'SESSION_SERVICE_UNAVAILABLE' });
  });

  it('is denied to HEAD, without a body [P75]', async () => {
    const token = await start();
    const denied = await endDuringCheck('own-events', token, reply(401), 'HEAD');

    expect([denied.status, denied.body]).toEqual([401, '']);
    expect(denied.headers['www-authenticate']).toContain('invalid_token');
  });

  it.each([...STREAMS, ...LATE])('is denied behind a middleware that compresses: %s [P75]', async (path) => {
    const token = await start((application) => application.use(compress));
    const denied = LATE.includes(path)
      ? await endDuringHandler(path, token)
      : await endDuringCheck(path, token, reply(401));
    await closed();

    expect(denied.status).toBe(401);
    expect(denied.headers).not.toHaveProperty('content-encoding');
    expect(JSON.parse(denied.body)).toMatchObject({ code: 'SESSION_REJECTED' });
  });

  it('is denied after its first part, if a middleware that compresses has kept that [P75]', async () => {
    const token = await start((application) => application.use(compress));
    const answer = call('compressed', token);
    await until('the first part is written', () => sources.waiting.length === 1);
    await sessions.signOut(token);
    sources.begin();

    expect((await answer).status).toBe(401);
  });

  it('keeps the headers of CORS, and none of the handler’s reply', async () => {
    const token = await start((application) => application.enableCors({ origin: 'https://page.example' }));
    const denied = await endDuringCheck('own-events', token, reply(401));

    expect(denied.headers).toMatchObject({
      'access-control-allow-origin': 'https://page.example',
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
    expect(denied.headers).not.toHaveProperty('transfer-encoding');
  });

  it.each([
    ['', undefined],
    ['behind a middleware that compresses', (application: INestApplication) => application.use(compress)],
  ])('is sent in full once another check confirms it, however large %s [P75]', async (_case, configure) => {
    const token = await start(configure);
    const stranger = service.signInAs({});
    const [first, second] = [hold(json({ username: 'ann' })), hold(json({ username: 'ann' }))];
    service.on('user_details', inTurn(first.script, second.script));
    const answer = call('large', token);
    await first.arrived;
    await sessions.signOut(stranger);
    first.release();
    await second.arrived;
    const { written } = sources;
    second.release();

    const { status, body } = await answer;
    expect([status, body.length]).toEqual([200, 64 * 65_536]);
    expect(written).toBeLessThan(8);
  });
});
