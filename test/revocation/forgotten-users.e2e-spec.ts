import { describe, expect, it } from '@jest/globals';
import { SessionAuthEvents, SessionAuthService } from 'nestjs-session-auth';
import { LIBRARIES, socketTrial } from '../sockets/socket-trial.js';
import { hold, json, reply } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { describeWithRedis } from '../support/redis.js';
import { sharedFleet, type SharedFleet } from '../fleet/suites.js';

const [[, LIBRARY]] = LIBRARIES as [(typeof LIBRARIES)[number]];

describe.each(LIBRARIES)('sockets of %s', (_name, library) => {
  const trial = socketTrial(library);

  it('close when the sessions of their user are ended, and those of others when all are', async () => {
    const { app } = await trial.start();
    const [ann, again, bob] = await Promise.all(
      ['ann', 'ann', 'bob'].map((username) => trial.attempt(trial.service.signInAs({ username }))),
    );
    expect(trial.counts()).toEqual({ watched: 3, waiting: 0 });
    await app.get(SessionAuthService).forgetUser('ann');

    expect(await ann?.closed).toMatchObject({ statusCode: 401 });
    expect(await again?.closed).toMatchObject({ statusCode: 401 });
    expect(trial.counts()).toEqual({ watched: 1, waiting: 0 });
    const { length } = bob?.messages ?? [];
    await until('the other one receives a message', () => (bob?.messages.length ?? 0) > length);
    await app.get(SessionAuthService).forgetAll();
    expect(await bob?.closed).toMatchObject({ statusCode: 401 });
    await trial.empty();
  });

  it('open only after another check when the sessions of their user are ended during the handshake', async () => {
    const { app } = await trial.start({ cache: { ttlMs: 60_000 } });
    const held = hold(json({ username: 'ann' }));
    trial.service.on('user_details', held.script);
    const attempt = trial.attempt('some-token');
    await held.arrived;
    await app.get(SessionAuthService).forgetUser('ann');
    trial.service.on('user_details', reply(401));
    held.release();

    expect(await attempt).toMatchObject({ opened: false, messages: [], denial: { statusCode: 401 } });
  });
});

describe('an application without a store', () => {
  const trial = socketTrial(LIBRARY);

  it('evicts the sessions of a user, and emits the name', async () => {
    const { app } = await trial.start({ cache: { ttlMs: 60_000 } });
    const sessions = app.get(SessionAuthService);
    const usernames: (string | undefined)[] = [];
    app.get(SessionAuthEvents).forgottenUsers$.subscribe((username) => usernames.push(username));
    const [ann, bob] = [
      trial.service.signInAs({ username: 'ann' }),
      trial.service.signInAs({ username: 'bob' }),
    ];
    for (const token of [ann, bob, ann, bob]) await sessions.verify(token);
    expect([trial.service.callsTo('user_details'), sessions.countCached()]).toEqual([2, 2]);

    await sessions.forgetUser('ann');
    expect(sessions.countCached()).toBe(1);
    for (const token of [ann, bob]) await sessions.verify(token);
    expect(trial.service.callsTo('user_details')).toBe(3);
    await sessions.forgetAll();
    expect([sessions.countCached(), usernames]).toEqual([0, ['ann', undefined]]);
    await expect(sessions.forgetUser(7 as never)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });
});

/** A session of a user that instances have cached, and that the service has ended since. */
async function cachedAndEnded(
  fleet: SharedFleet,
  username: string,
  instances = fleet.all.slice(1),
): Promise<string> {
  const token = fleet.signIn({ username });
  for (const instance of instances) expect(await instance.status(token)).toBe(200);
  await fleet.key('V');
  fleet.revoke(token);
  for (const instance of instances) expect(await instance.status(token)).toBe(200);
  return token;
}

describeWithRedis('a user whose sessions are ended on an instance that has cached none of them', () => {
  const shared = sharedFleet(3);

  it('is refused by all instances, also from the store, and each emits the user once, the caller too [Q19]', async () => {
    const fleet = shared();
    const [one, ...others] = fleet.all;
    const token = await cachedAndEnded(fleet, 'ann');
    const before = (await Promise.all(fleet.all.map((instance) => instance.do('forgottenUsers')))).map(
      ({ length }) => length,
    );

    expect(await one.do('forgetUser', 'ann')).toBe('done');
    expect(await one.status(token)).toBe(401);
    for (const [index, instance] of others.entries()) {
      await until(
        'it emits the user',
        async () => (await instance.do('forgottenUsers')).length > (before[index + 1] ?? 0),
      );
      expect(await instance.status(token)).toBe(401);
    }
    // Its own message has arrived everywhere by then: messages keep their order.
    await others[0].do('forgetUser', 'bob');
    for (const [index, instance] of fleet.all.entries()) {
      await until(
        'it emits the next user',
        async () => (await instance.do('forgottenUsers')).at(-1) === 'bob',
      );
      expect((await instance.do('forgottenUsers')).slice(before[index])).toEqual(['ann', 'bob']);
    }
  });

  it('is revoked with all others by forgetAll', async () => {
    const fleet = shared();
    const [one, ...others] = fleet.all;
    const token = await cachedAndEnded(fleet, 'carl');
    expect(await one.do('forgetAll')).toBe('done');
    expect(await one.status(token)).toBe(401);
    for (const instance of others) {
      await until('it emits the user', async () => (await instance.do('forgottenUsers')).at(-1) === null);
      expect(await instance.status(token)).toBe(401);
    }
  });

  it('has no readable name in Redis', async () => {
    const fleet = shared();
    const [one] = fleet.all;
    await one.do('forgetUser', 'zaphod@example.com');
    const keys = await fleet.redis.keys('*');
    const texts = await Promise.all(keys.map(async (key) => `${key} ${(await fleet.redis.get(key)) ?? ''}`));
    expect(keys.length).toBeGreaterThan(0);
    expect(texts.join('\n')).not.toContain('zaphod');
  });
});
