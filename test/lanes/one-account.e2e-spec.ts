import { describe, expect, it } from '@jest/globals';
import { SessionAuthEvents } from 'nestjs-session-auth';
import { hold, json, reply, type Script } from 'nestjs-session-auth/testing';
import { handClock } from '../support/hand-clock.js';
import { platforms, type Platform } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

/** The user of a token `name-number`. */
const userOf = (token: unknown): string => String(token).replace(/-\d+$/, '');

/** Answers each token with its user. */
const good: Script = (request, ...call) =>
  json({ username: userOf(request.headers['x-auth-token']) })(request, ...call);
/** Answers requests with an odd IV with a script, and others with their user. */
const oddly =
  (odd: Script): Script =>
  (request, ...call) =>
    (String(request.headers['x-auth-iv'] ?? '').startsWith('odd') ? odd : good)(request, ...call);

const tokens = (user: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${user}-${index}`);

const CLOSED = { known: 'closed', strangers: 'closed' };

function scenes(platform: Platform) {
  const bed = testbed(platform);
  return async (options: object = {}) => {
    const service = await bed.service();
    service.on('user_details', good);
    const app = await bed.sample({ baseUrl: service.url, options: { retry: false, ...options } });
    /** Sends a request with each token at once. Returns the count of each status. */
    const send = async (asked: readonly string[], authIv?: (index: number) => string) => {
      const replies = asked.map((token, index) =>
        app.get('/me', token, authIv && { 'x-auth-iv': authIv(index) }),
      );
      const counts: Record<number, number> = {};
      for (const { status } of await Promise.all(replies)) counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    };
    return { service, app, send, breakers: () => app.app.get(SessionAuthEvents).serviceStatus.breakers };
  };
}

describe.each(platforms('Fastify'))('one account with many sessions on %s', (_name, platform) => {
  const scene = scenes(platform);

  it('of 25 sessions, for which the service fails at an odd IV, opens no breaker [P28]', async () => {
    const { service, send, breakers } = await scene();
    const [mallory, others] = [tokens('mallory', 25), ['bob-0', 'carol-0']];
    await send([...mallory, ...others]);
    service.on('user_details', oddly(reply(500)));
    for (let turn = 0; turn < 4; turn += 1)
      expect(await send(mallory, () => `odd-${turn}`)).toEqual({ 503: 25 });

    expect(breakers()).toEqual(CLOSED);
    expect(await send([...others, 'dave-0'])).toEqual({ 200: 3 });
  });

  it('is five accounts when the failures are of five: the breaker opens [P28]', async () => {
    const { service, send, breakers } = await scene();
    const known = ['a', 'b', 'c', 'd', 'e'].flatMap((user) => tokens(user, 4));
    await send(known);
    service.on('user_details', reply(500));
    await send(known);

    expect(breakers()).toEqual({ known: 'open', strangers: 'open' });
  });
});

describe.each(platforms('Fastify'))('one token with many IVs on %s', (_name, platform) => {
  const scene = scenes(platform);

  it('has at most eight calls at once: the rest get 503, and a known user none of it [P29]', async () => {
    const { service, send } = await scene({ maxInFlight: 16, maxQueued: 32 });
    await send(['mallory-0', 'bob-0']);
    const held = hold(good);
    service.on('user_details', oddly(held.script));
    const before = service.requests.length;
    const odd = send(Array(100).fill('mallory-0') as string[], (index) => `odd-${index}`);
    await held.arrived;
    expect(await send(['bob-0', 'dave-0'])).toEqual({ 200: 2 });
    expect(await send(['mallory-0'])).toEqual({ 200: 1 });
    held.release();

    expect(await odd).toEqual({ 200: 8, 503: 92 });
    // A call on a connection that was idle is made twice if the service holds it for a second.
    const sessions = service.requests
      .slice(before)
      .map(({ headers }) => JSON.stringify([headers['x-auth-token'], headers['x-auth-iv']]));
    expect(new Set(sessions).size).toBe(8 + 3);
  });
});

describe.each(platforms('Fastify'))('429 of the service on %s', (_name, platform) => {
  const scene = scenes(platform);
  const clock = handClock();
  const five = ['a-0', 'b-0', 'c-0', 'd-0', 'e-0'];

  it('to two users pauses known sessions for its Retry-After, up to 30 s; then one call probes [P35]', async () => {
    const { service, send, app, breakers } = await scene();
    await send(five);
    service.on('user_details', reply(429, '', { 'retry-after': '900' }));
    for (const token of five) await app.get('/me', token);
    expect([service.callsTo('user_details'), breakers()]).toEqual([
      7,
      { known: 'open', strangers: 'closed' },
    ]);
    expect((await app.get('/me', 'c-0')).headers.get('retry-after')).toBe('30');
    clock.advance(29_999);
    expect(await send(five)).toEqual({ 503: 5 });
    clock.advance(1);
    const held = hold(good);
    service.on('user_details', held.script);
    const probe = send(['c-0']);
    await held.arrived;
    expect(await send(['a-0', 'b-0', 'd-0', 'e-0'])).toEqual({ 503: 4 });
    held.release();

    expect(await probe).toEqual({ 200: 1 });
    service.on('user_details', good);
    expect([await send(five), breakers()]).toEqual([{ 200: 5 }, CLOSED]);
  });
});
