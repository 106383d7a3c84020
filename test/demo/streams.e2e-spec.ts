import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { get, request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { Module } from '@nestjs/common';
import { defer, finalize, NEVER, Subject } from 'rxjs';
import { connect, type Socket } from 'node:net';
import { LiveController } from '../../apps/demo/src/console/live/live.controller.js';
import { LiveFeed } from '../../apps/demo/src/console/live/live-feed.js';
import { startDemo, type RunningDemo } from '../../apps/demo/src/start-demo.js';
import { platforms, startApp } from '../support/platforms.js';
import { until } from '../support/until.js';
import type { CacheChoice } from '../../apps/demo/src/backend/cache-choice.js';
import { DemoClient, type DemoReply } from './demo-client.js';
import { LiveReports } from './live-reports.js';

/** Requests the live reports from an address of this machine, and does not read the reply. */
async function watch(
  url: string,
  from = '127.0.0.1',
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const call = get(`${url}/console/live`, { agent: false, localAddress: from, headers });
  const [reply] = (await once(call, 'response')) as [IncomingMessage];
  reply.on('error', () => undefined);
  return reply;
}

describe.each(platforms('Express'))('the live streams of the demo on %s', (_platform, newAdapter) => {
  let demo: RunningDemo;
  const open: IncomingMessage[] = [];

  beforeAll(async () => {
    demo = await startDemo({ port: 0, env: {}, newAdapter });
  });
  afterAll(() => demo.close());

  afterEach(async () => {
    for (const reply of open.splice(0)) reply.destroy();
    await everyPlaceIsFree();
  });

  async function everyPlaceIsFree(): Promise<void> {
    await until('every place is free', async () => {
      const replies = await Promise.all(Array.from({ length: 16 }, () => watch(demo.url)));
      for (const reply of replies) reply.destroy();
      return replies.every(({ statusCode }) => statusCode === 200);
    });
  }

  async function statusFrom(address: string, headers?: Record<string, string>): Promise<number | undefined> {
    const reply = await watch(demo.url, address, headers);
    open.push(reply);
    return reply.statusCode;
  }

  async function openFrom(address: string, streams: number): Promise<void> {
    for (let stream = 0; stream < streams; stream += 1) expect(await statusFrom(address)).toBe(200);
  }

  it('are limited to 16 for an address: the next is refused with Retry-After, and other addresses are not', async () => {
    await openFrom('127.0.0.1', 16);
    const refused = await watch(demo.url);
    expect(refused.statusCode).toBe(503);
    expect(refused.headers['retry-after']).toBe('5');
    expect(await json(refused)).toMatchObject({
      statusCode: 503,
      message: expect.stringContaining('Too many pages watch the guard'),
    });
    expect(
      await statusFrom('127.0.0.1', { 'x-forwarded-for': '127.0.0.9', forwarded: 'for=127.0.0.9' }),
    ).toBe(503);
    expect(await statusFrom('127.0.0.2')).toBe(200);
  });

  it('free their place when they are closed', async () => {
    await openFrom('127.0.0.1', 16);
    open.pop()?.destroy();
    await until('there is a place again', async () => (await statusFrom('127.0.0.1')) === 200);
    expect(await statusFrom('127.0.0.1')).toBe(503);
  });

  it('keep no place for a client that disconnected before its stream began, nor for a HEAD', async () => {
    for (let time = 0; time < 40; time += 1) {
      const call = get(`${demo.url}/console/live`, {
        agent: false,
        method: time % 2 === 0 ? 'HEAD' : 'GET',
      }).on('error', () => undefined);
      await once(call, 'socket');
      if (time % 2 === 0) await once(call, 'response');
      call.destroy();
    }
    await everyPlaceIsFree();
    expect(await statusFrom('127.0.0.1')).toBe(200);
  });
});

describe.each(platforms('Express'))('a live stream on %s', (_platform, newAdapter) => {
  it('is closed if its client does not read and too much is buffered, and others go on', async () => {
    const source = new Subject<object>();
    let streams = 0;
    const reports = defer(() => {
      streams += 1;
      return source.pipe(finalize(() => (streams -= 1)));
    });
    @Module({
      controllers: [LiveController],
      providers: [{ provide: LiveFeed, useValue: { reports, marks: NEVER, history: [] } }],
    })
    class LiveModule {}
    const app = await startApp(newAdapter, LiveModule);
    try {
      const [reader, idler] = [await watch(app.url), await watch(app.url)];
      let [received, isCutOff] = [0, false];
      reader.on('data', (chunk: Buffer) => (received += chunk.length));
      idler.socket.on('close', () => (isCutOff = true));
      let sent = 0;
      while (streams === 2) {
        expect(sent).toBeLessThan(100_000_000);
        source.next({ padding: 'x'.repeat(50_000) });
        sent += 50_000;
        await until('the reader has it', () => received >= sent);
      }
      expect(streams).toBe(1);
      idler.resume();
      await until('the idle client is cut off', () => isCutOff);
      source.complete();
      await once(reader, 'end');
      expect(received).toBeGreaterThan(sent);
    } finally {
      await app.close();
    }
  });
});

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

describe.each(platforms('Express'))('the demo on %s', (_platform, newAdapter) => {
  let demo: RunningDemo;
  let client: DemoClient;

  beforeAll(async () => {
    demo = await startDemo({ port: 0, env: {}, newAdapter });
    client = new DemoClient(demo.url);
  });
  afterAll(() => demo.close());

  const order = (load: string, token: unknown): Promise<DemoReply> =>
    client.send('POST', '/console/load', { body: { load, token } });

  /**
   * The status that a button answers with, pressed from a page with these headers: not `fetch`, which sends
   * its own.
   */
  async function press(
    path: string,
    headers: Record<string, string>,
    body = '',
  ): Promise<number | undefined> {
    const sent = request(`${demo.url}${path}`, { method: 'POST', headers, agent: false }).end(body);
    const [reply] = (await once(sent, 'response')) as [{ statusCode?: number; resume(): unknown }];
    reply.resume();
    return reply.statusCode;
  }

  it('orders no load with a token that no header can hold', async () => {
    for (const token of ['', 'a\r\nb', 'a b', 'é', 1, ['t'], 'a'.repeat(4_097)])
      expect((await order('stampede', token)).status).toBe(400);
    expect(await press('/console/load', { 'content-type': FORM }, `load=steady&token=a%0Ab`)).toBe(400);
    expect((await client.send('DELETE', '/console/load')).status).toBe(204);
  });

  it('refuses the buttons to other origins in a browser that sends their origin alone', async () => {
    const { host } = new URL(demo.url);
    for (const origin of [
      'http://other.example',
      `http://other.${host}`,
      'null',
      `http://${host}.other.example`,
    ])
      expect(await press('/console/load', { origin, 'content-type': FORM }, 'load=steady&token=t')).toBe(403);
    const [own, site] = [{ origin: demo.url }, { 'sec-fetch-site': 'cross-site' }];
    expect(await press('/console/end-sessions', own)).toBe(200);
    expect(await press('/console/end-sessions', { ...own, ...site })).toBe(403);
  });
});

describe.each(platforms('Express'))('a demo on %s', (_platform, newAdapter) => {
  it('restarts and stops although clients disconnected with queued requests', async () => {
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
