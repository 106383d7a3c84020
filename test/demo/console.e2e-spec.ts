import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type CacheChoice, NO_CACHE } from '../../apps/demo/src/backend/cache-choice.js';
import { type Fault } from '../../apps/demo/src/session-service/fault.js';
import { type RunningDemo, startDemo } from '../../apps/demo/src/start-demo.js';
import { platforms } from '../support/platforms.js';
import { startScriptedService } from '../support/scripted-service.js';
import { DemoClient, type DemoReply } from './demo-client.js';
import { LiveReports } from './live-reports.js';

const MEMORY: CacheChoice = { ttlSeconds: 300, refreshAhead: false, staleIfError: false };

describe.each(platforms('Express'))('the console of the demo on %s', (_platform, newAdapter) => {
  let demo: RunningDemo;
  let client: DemoClient;
  let live: LiveReports;

  beforeAll(async () => {
    demo = await startDemo({ port: 0, env: {}, newAdapter });
    client = new DemoClient(demo.url);
  });
  afterAll(() => demo.close());

  beforeEach(async () => {
    await ail('none');
    await setCache(NO_CACHE);
    await client.send('POST', '/console/reset');
    live = await LiveReports.of(demo.url);
  });
  afterEach(() => live.close());

  const ail = (fault: Fault): Promise<DemoReply> => client.send('PUT', '/console/fault', { body: { fault } });
  const setCache = (body: CacheChoice): Promise<DemoReply> => client.send('PUT', '/console/cache', { body });
  const me = async (token: string): Promise<number> => (await client.get('/api/me', token)).status;

  it('streams the work of the guard, beginning with the last minute', async () => {
    const token = await client.tokenOf('manager');
    await me(token);
    await me('unknown-token');
    await client.get('/api/me');
    await client.get('/api/onboarding', token);
    const report = await live.next(({ totals }) => totals.denials.ACCESS_DENIED === 1);
    expect(live.reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(report.totals).toEqual({
      checks: { cached: 0, joined: 0, asked: 2, denied: 1, turnedBack: 0, unavailable: 0 },
      denials: { SESSION_REQUIRED: 1, SESSION_REJECTED: 1, ACCESS_DENIED: 1, SESSION_SERVICE_UNAVAILABLE: 0 },
      calls: 4,
    });
    expect(report).toMatchObject({
      inFlight: 0,
      breakers: { known: 'closed', strangers: 'closed' },
      cached: 0,
      cache: NO_CACHE,
      fault: 'none',
    });

    const later = await LiveReports.of(demo.url);
    const history = await later.history();
    await later.close();
    expect(history).toContainEqual(report);
    const numbers = history.map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
  });

  it('streams each request: its lane, its call, and its outcome', async () => {
    const token = await client.tokenOf('manager');
    await setCache(MEMORY);
    for (const presented of [token, token, 'unknown-token', undefined])
      await client.get('/api/me', presented);
    await client.get('/api/health');
    const events = await live.marks((all) => all.filter(([, event]) => event === 'denied').length === 2);
    const [first = 0] = events[0] ?? [];
    expect(events.map(([id, ...event]) => [id - first, ...event])).toEqual([
      [0, 'in', 'strangers'],
      [0, 'call'],
      [0, 'asked'],
      [1, 'in', 'known'],
      [1, 'cached'],
      [2, 'in', 'strangers'],
      [2, 'call'],
      [2, 'denied'],
      [3, 'in', 'strangers'],
      [3, 'denied'],
    ]);
  });

  it.each([
    ['broken', 503],
    ['garbage', 503],
    ['stopped', 503],
    ['slow', 200],
  ] as const)(
    'makes the session service %s, so that the guard answers %i, and restores it',
    async (fault, status) => {
      const token = await client.tokenOf('manager');
      await ail(fault);
      const answered = me(token);
      if (fault === 'slow') await live.next((report) => report.fault === 'slow' && report.inFlight > 0);
      expect(await answered).toBe(status);
      await ail('none');
      expect(await me(token)).toBe(200);
    },
  );

  it('shows the cost of a cache: a session that was revoked elsewhere stays valid, but not on a route with a fresh check', async () => {
    await setCache(MEMORY);
    const token = await client.tokenOf('manager');
    expect(await me(token)).toBe(200);
    await client.send('POST', '/console/end-sessions');
    expect(await me(token)).toBe(200);
    const report = await live.next(({ totals }) => totals.checks.cached === 1);
    expect(report).toMatchObject({ cached: 1, cache: MEMORY });
    expect((await client.send('POST', '/api/payroll/run', { token })).status).toBe(401);
    expect(await me(token)).toBe(401);
  });

  it('drives steady load until it is stopped, one run at a time', async () => {
    const body = { load: 'steady', token: await client.tokenOf('manager') };
    expect((await client.send('POST', '/console/load', { body })).status).toBe(202);
    await live.next(({ totals }) => totals.checks.asked > 5);
    expect((await client.send('POST', '/console/load', { body })).status).toBe(409);
    expect((await client.send('DELETE', '/console/load')).status).toBe(204);
    expect((await client.send('POST', '/console/load', { body })).status).toBe(202);
    expect((await client.send('DELETE', '/console/load')).status).toBe(204);
  });

  it('runs one scene at a time, rejects changes meanwhile, and restores everything when its visitor leaves', async () => {
    await client.send('POST', '/console/end-sessions');
    await setCache(MEMORY);
    const leaving = new AbortController();
    const play = (scene: string): Promise<Response> =>
      fetch(`${demo.url}/console/scenes`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ scene }),
        signal: leaving.signal,
      });
    const outage = await play('outage');
    const read = outage.text().catch(() => 'left');
    await live.next(
      ({ fault, scene, cache }) => fault === 'broken' && scene === 'outage' && cache.ttlSeconds === 0,
    );
    const others = [
      await play('stampede'),
      await ail('none'),
      await setCache(NO_CACHE),
      await client.send('POST', '/console/load'),
    ];
    expect(others.map(({ status }) => status)).toEqual([409, 409, 409, 409]);
    leaving.abort();
    expect(await read).toBe('left');
    await live.next(
      ({ fault, scene, cache }) => fault === 'none' && scene === undefined && cache.ttlSeconds === 300,
    );
    // Of the twelve sessions of the scene, none is left.
    const { ended } = (await client.send('POST', '/console/end-sessions')).json() as { ended: number };
    expect(ended).toBeLessThan(12);
  });

  it.each([
    ['PUT', '/console/fault', { fault: 'arson' }],
    ['PUT', '/console/cache', { ...MEMORY, ttlSeconds: 1e9 }],
    ['PUT', '/console/fault', '{"fault":'],
  ])('answers 400 to %s %s with %j', async (method, path, body) => {
    expect((await client.send(method, path, { body })).status).toBe(400);
  });

  it('refuses the buttons to other origins', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' };
    for (const [method, path, body] of [
      ['PUT', 'fault', '{"fault":"broken"}'],
      ['POST', 'end-sessions', '{}'],
      ['POST', 'load', '{"load":"steady","token":"t"}'],
      ['POST', 'scenes', '{"scene":"outage"}'],
      ['POST', 'trickle', '{}'],
    ] as const)
      expect((await fetch(`${demo.url}/console/${path}`, { method, headers, body })).status).toBe(403);
    expect((await live.next(() => true)).fault).toBe('none');
  });

  it('never sends a token', async () => {
    await setCache(MEMORY);
    const token = await client.tokenOf('manager');
    for (let time = 0; time < 2; time += 1) await me(token);
    const report = await live.next(({ totals }) => totals.checks.cached > 0);
    for (const path of ['/metrics', '/console/info'])
      expect((await client.get(path)).text + JSON.stringify(report)).not.toContain(token);
  });
});

describe('a demo', () => {
  it('stops while pages watch, and while load runs', async () => {
    const demo = await startDemo({ port: 0, env: {} });
    const live = await LiveReports.of(demo.url);
    const body = { load: 'steady', token: 'of-nobody' };
    await new DemoClient(demo.url).send('POST', '/console/load', { body });
    await live.next(({ totals }) => totals.checks.denied > 0);
    await Promise.all([demo.close(), expect(live.ended()).resolves.toBe(true)]);
    await expect(fetch(demo.url)).rejects.toThrow();
  });

  it('stops while a scene runs, and informs its visitor', async () => {
    const demo = await startDemo({ port: 0, env: {} });
    const live = await LiveReports.of(demo.url);
    const scene = new DemoClient(demo.url).send('POST', '/console/scenes', { body: { scene: 'cache' } });
    await live.next(({ totals }) => totals.checks.cached > 0);
    await demo.close();
    expect((await scene).text).toContain('"error"');
  });

  it('has no buttons with another session service, in production or not', async () => {
    const service = await startScriptedService();
    try {
      for (const NODE_ENV of ['production', 'development']) {
        const env = { NODE_ENV, SESSION_SERVICE_URL: service.url, SESSION_SERVICE_API_KEY: 'a-key' };
        const demo = await startDemo({ port: 0, env });
        const client = new DemoClient(demo.url);
        expect((await client.get('/console/info')).json()).toMatchObject({ users: [], controls: false });
        for (const [method, path] of [
          ['PUT', 'fault'],
          ['PUT', 'cache'],
          ...['end-sessions', 'reset', 'load', 'scenes', 'trickle'].map(
            (button) => ['POST', button] as const,
          ),
        ] as const)
          expect((await client.send(method, `/console/${path}`, { body: {} })).status).toBe(404);
        const live = await LiveReports.of(demo.url);
        expect(await live.next(() => true)).not.toHaveProperty('fault');
        await demo.close();
      }
    } finally {
      await service.close();
    }
  });
});
