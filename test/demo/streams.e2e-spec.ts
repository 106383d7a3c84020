import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { defer, finalize, Subject } from 'rxjs';
import { LiveController } from '../../apps/demo/src/console/live/live.controller.js';
import { LiveFeed } from '../../apps/demo/src/console/live/live-feed.js';
import { type RunningDemo, startDemo } from '../../apps/demo/src/start-demo.js';
import { PLATFORMS, startApp } from '../support/platforms.js';
import { until } from '../support/until.js';

/** Asks for the live reports from an address of this machine, and leaves the reply unread. */
async function watch(url: string, from = '127.0.0.1', headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const call = get(`${url}/console/live`, { agent: false, localAddress: from, headers });
  const [reply] = (await once(call, 'response')) as [IncomingMessage];
  reply.on('error', () => undefined);
  return reply;
}

describe.each(PLATFORMS)('the live streams of the demo on %s', (_platform, newAdapter) => {
  let demo: RunningDemo;
  const open: IncomingMessage[] = [];

  beforeAll(async () => {
    demo = await startDemo({ port: 0, env: {}, newAdapter });
  });
  afterAll(() => demo.close());

  afterEach(async () => {
    for (const reply of open.splice(0)) reply.destroy();
    await until('every place is free', async () => {
      const replies = await Promise.all(Array.from({ length: 16 }, () => watch(demo.url)));
      for (const reply of replies) reply.destroy();
      return replies.every(({ statusCode }) => statusCode === 200);
    });
  });

  async function statusFrom(address: string, headers?: Record<string, string>): Promise<number | undefined> {
    const reply = await watch(demo.url, address, headers);
    open.push(reply);
    return reply.statusCode;
  }

  async function openFrom(address: string, streams: number): Promise<void> {
    for (let stream = 0; stream < streams; stream += 1) expect(await statusFrom(address)).toBe(200);
  }

  it('are 16 for an address: the next is refused with when to come again, and other addresses are not', async () => {
    await openFrom('127.0.0.1', 16);
    const refused = await watch(demo.url);
    expect(refused.statusCode).toBe(503);
    expect(refused.headers['retry-after']).toBe('5');
    expect(await json(refused)).toMatchObject({ statusCode: 503, message: expect.stringContaining('Too many pages watch the guard') });
    expect(await statusFrom('127.0.0.1', { 'x-forwarded-for': '127.0.0.9', forwarded: 'for=127.0.0.9' })).toBe(503);
    expect(await statusFrom('127.0.0.2')).toBe(200);
  });

  it('are 64 in all', async () => {
    for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4']) await openFrom(address, 16);
    expect(await statusFrom('127.0.0.5')).toBe(503);
    expect((await fetch(`${demo.url}/api/health`)).status).toBe(200);
  });

  it('never become more, though all ask at once', async () => {
    const replies = await Promise.all(Array.from({ length: 60 }, () => watch(demo.url)));
    open.push(...replies);
    expect(replies.filter(({ statusCode }) => statusCode === 200)).toHaveLength(16);
  });

  it('give their place to the next when they are closed', async () => {
    await openFrom('127.0.0.1', 16);
    open.pop()?.destroy();
    await until('there is a place again', async () => (await statusFrom('127.0.0.1')) === 200);
    expect(await statusFrom('127.0.0.1')).toBe(503);
  });

  it('keep no place for a client that has gone before its stream began, nor for a HEAD', async () => {
    for (let time = 0; time < 40; time += 1) {
      const call = get(`${demo.url}/console/live`, { agent: false, method: time % 2 === 0 ? 'HEAD' : 'GET' }).on('error', () => undefined);
      await once(call, 'socket');
      if (time % 2 === 0) await once(call, 'response');
      call.destroy();
    }
  });
});

describe.each(PLATFORMS)('a live stream on %s', (_platform, newAdapter) => {
  it('is cut off when its client does not read and too much waits for it, and others go on', async () => {
    const source = new Subject<object>();
    let streams = 0;
    const reports = defer(() => {
      streams += 1;
      return source.pipe(finalize(() => (streams -= 1)));
    });
    @Module({ controllers: [LiveController], providers: [{ provide: LiveFeed, useValue: { reports, history: [] } }] })
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
