import { describe, expect, it } from '@jest/globals';
import { Agent } from 'node:http';
import { platforms } from '../support/platforms.js';
import type { Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { handClock } from '../support/hand-clock.js';
import { cachingApp } from '../support/caching-app.js';

type Headers = Readonly<Record<string, string | string[]>>;

/** Accepts every session, with these headers. */
function ann(headers: Headers): Script {
  return (_request, response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ username: 'ann' }));
}

describe.each(platforms('Express'))('the session service, by Cache-Control, on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  it.each<[headers: Headers, forMs: number, how: string, http: object]>([
    [{ 'cache-control': ['max-age=9', 'max-age=8'], age: '4' }, 4_000, '', {}],
    [{ age: '4' }, 6_000, ' with an agent of the application', { httpAgent: new Agent() }],
    [{ 'cache-control': 'max-age=3600, private' }, 10_000, '', {}],
  ])('with %j lets a session be cached for %i ms of ten seconds%s', async (headers, forMs, _how, http) => {
    const { service, status, calls } = await cachingApp(bed, {}, { options: { http } });
    service.on('user_details', ann(headers));
    const steps: [status: number, asked: number][] = [];
    for (const ms of [0, forMs - 1, 1, forMs - 1]) {
      clock.advance(ms);
      steps.push([await status('/me', 'token'), calls()]);
    }

    expect(steps).toEqual([1, 1, 2, 2].map((asked) => [200, asked]));
  });
});
