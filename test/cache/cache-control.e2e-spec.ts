import { describe, expect, it } from '@jest/globals';
import { Agent } from 'node:http';
import type { SessionAuthCacheOptions } from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { platforms } from '../support/platforms.js';
import { reply, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { handClock } from '../support/hand-clock.js';
import { cachingApp, type CachingApp } from '../support/caching-app.js';
import { StaleController } from './stale-controller.js';

type Headers = Readonly<Record<string, string | string[]>>;

/** Accepts every session, with these headers. */
function ann(headers: Headers): Script {
  return (_request, response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ username: 'ann' }));
}

const withControl = (control: string): Headers => ({ 'cache-control': control });

describe.each(platforms('Express'))('the session service, by Cache-Control, on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  async function answering(
    script: Script,
    cache: Partial<SessionAuthCacheOptions> = {},
  ): Promise<CachingApp> {
    const trial = await cachingApp(bed, cache, { controllers: [StaleController] });
    trial.service.on('user_details', script);
    return trial;
  }

  /** Checks after each of these pauses; returns the status and the number of calls so far. */
  async function checks(
    { status, calls }: CachingApp,
    pausesMs: readonly number[],
  ): Promise<[status: number, asked: number][]> {
    const steps: [number, number][] = [];
    for (const ms of pausesMs) {
      clock.advance(ms);
      steps.push([await status('/stale', 'token'), calls()]);
    }
    return steps;
  }

  it.each<[headers: Headers, forMs: number]>([
    [withControl('max-age=2'), 2_000],
    [withControl('private, max-age=5, s-maxage=3'), 3_000],
    [{ 'cache-control': ['max-age=5', 'max-age=4'] }, 4_000],
    [{ 'cache-control': 'max-age=9', age: '4' }, 5_000],
    [{ age: '4' }, 6_000],
    [withControl('private'), 10_000],
    [withControl('max-age=3600'), 10_000],
    [{ 'cache-control': 'max-age=3600, immutable', age: '0' }, 10_000],
  ])('with %j lets a session be cached for %p ms of ten seconds', async (headers, forMs) => {
    const trial = await answering(ann(headers));

    expect(await checks(trial, [0, forMs - 1, 1, forMs - 1])).toEqual(
      [1, 1, 2, 2].map((asked) => [200, asked]),
    );
  });

  it('is read with an agent of the application too', async () => {
    const options = { http: { httpAgent: new Agent() } };
    const trial = await cachingApp(bed, {}, { controllers: [StaleController], options });
    trial.service.on('user_details', ann({ 'cache-control': ['private', 'max-age=5'], age: '2' }));

    expect(await checks(trial, [0, 2_999, 1])).toEqual([1, 1, 2].map((asked) => [200, asked]));
  });

  it('is reported once, for as long as it forbids caching sessions', async () => {
    const service = await bed.service();
    const log = new CapturedLog();
    const cache = { ttlMs: 10_000 };
    const app = await bed.sample({ baseUrl: service.url, options: { cache } }, { logger: log });
    const reports = (): number => log.having('warn', 'caching forbidden').length;
    const seen: number[] = [];
    for (const [script, ms] of [
      [ann(withControl('max-age=1')), 0],
      [reply(401, '', { 'cache-control': 'no-store' }), 1_000],
      [ann(withControl('no-store')), 0],
      [ann(withControl('no-store')), 59_999],
      [ann(withControl('max-age=0')), 1],
    ] as const) {
      clock.advance(ms);
      service.on('user_details', script);
      await app.get('/me', 'token');
      seen.push(reports());
    }

    expect(seen).toEqual([0, 0, 1, 1, 1]);
    expect(service.callsTo('user_details')).toBe(5);
  });
});
