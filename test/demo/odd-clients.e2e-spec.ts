import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CacheChoice } from '../../apps/demo/src/backend/cache-choice.js';
import { type LoadResult } from '../../apps/demo/src/console/messages.js';
import { type RunningDemo, startDemo } from '../../apps/demo/src/start-demo.js';
import { PLATFORMS } from '../support/platforms.js';
import { DemoClient, type DemoReply } from './demo-client.js';
import { LiveReports } from './live-reports.js';

const MEMORY: CacheChoice = { ttlSeconds: 300, refreshAhead: false, staleIfError: false };
const FORM = 'application/x-www-form-urlencoded';

/** Writes requests as they are, on a connection of their own. */
async function write(url: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const pipelined = (paths: readonly string[], token: string): string =>
  paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-AUTH-TOKEN: ${token}\r\n\r\n`).join('');

describe.each(PLATFORMS)('the demo on %s', (_platform, newAdapter) => {
  let demo: RunningDemo;
  let client: DemoClient;

  beforeAll(async () => {
    demo = await startDemo({ port: 0, env: {}, newAdapter });
    client = new DemoClient(demo.url);
  });
  afterAll(() => demo.close());

  const order = (load: string, token: unknown): Promise<DemoReply> => client.send('POST', '/console/load', { body: { load, token } });

  /** The status that a button answers with, pressed from a page with these headers: not `fetch`, which sends its own. */
  async function press(path: string, headers: Record<string, string>, body = ''): Promise<number | undefined> {
    const sent = request(`${demo.url}${path}`, { method: 'POST', headers, agent: false }).end(body);
    const [reply] = (await once(sent, 'response')) as [{ statusCode?: number; resume(): unknown }];
    reply.resume();
    return reply.statusCode;
  }

  it.each(['steady', 'stampede'])('orders no %s load with a token that no header can hold', async (load) => {
    for (const token of ['', '\0', 'a\r\nb', 'a b', 'é', '☂', 1, ['t'], 'a'.repeat(4_097)])
      expect((await order(load, token)).status).toBe(400);
    expect(await press('/console/load', { 'content-type': FORM }, `load=${load}&token=a%0Ab`)).toBe(400);
    expect((await client.send('DELETE', '/console/load')).status).toBe(204);
  });

  it('lets the pages of others press no button in a browser that tells their origin alone', async () => {
    const { host } = new URL(demo.url);
    for (const origin of ['http://other.example', `http://other.${host}`, 'null', `http://${host}.other.example`]) {
      expect(await press('/console/end-sessions', { origin })).toBe(403);
      expect(await press('/console/load', { origin, 'content-type': FORM }, 'load=steady&token=t')).toBe(403);
    }
    expect(await press('/console/end-sessions', { origin: demo.url })).toBe(200);
    expect(await press('/console/end-sessions', { origin: demo.url, 'sec-fetch-site': 'cross-site' })).toBe(403);
  });

  it('stops a stampede alone when it is told to, and not the run after it', async () => {
    const token = await client.tokenOf('manager');
    const two = [order('stampede', token), order('stampede', token)] as const;
    expect((await Promise.race(two)).status).toBe(409);
    await client.send('DELETE', '/console/load');
    expect((await order('steady', token)).status).toBe(202);
    const stopped = (await Promise.all(two)).find(({ status }) => status === 200)?.json() as LoadResult;
    expect(stopped.lost).toBeGreaterThan(0);
    expect((await order('steady', token)).status).toBe(409);
    await client.send('DELETE', '/console/load');
  });

  it('counts the calls of a stampede though everything is counted anew meanwhile', async () => {
    const token = await client.tokenOf('manager');
    for (let call = 0; call < 5; call += 1) await client.get('/api/me', token);
    const stampede = order('stampede', token);
    const over = stampede.then(() => true);
    while (!(await Promise.race([over, client.send('POST', '/console/reset').then(() => false)])));
    expect(((await stampede).json() as LoadResult).calls).toBeGreaterThan(0);
  });
});

describe.each(PLATFORMS)('a demo on %s', (_platform, newAdapter) => {
  it('starts anew and ends though clients left with requests waiting behind others', async () => {
    const demo = await startDemo({ port: 0, env: {}, newAdapter });
    const client = new DemoClient(demo.url);
    const token = await client.tokenOf('manager');
    const live = await LiveReports.of(demo.url);
    await client.send('PUT', '/console/fault', { body: { fault: 'slow' } });
    const waiting = [
      await write(demo.url, pipelined(['/api/me', '/api/me', '/api/health'], token)),
      await write(demo.url, pipelined(['/api/me', '/console/live', '/console/live', '/api/me'], token)),
      await write(
        demo.url,
        'POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"user',
      ),
    ];
    await live.next(({ inFlight }) => inFlight > 0);
    for (const socket of waiting) socket.destroy();
    await client.send('PUT', '/console/cache', { body: MEMORY });
    await client.send('PUT', '/console/fault', { body: { fault: 'stopped' } });
    await live.close();
    await demo.close();
    await expect(fetch(demo.url)).rejects.toThrow();
  });
});
