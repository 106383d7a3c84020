import { expect, it } from '@jest/globals';
import { hold, json, reply } from 'nestjs-session-auth/testing';
import { describeWithRedis } from '../support/redis.js';
import { monitor } from '../support/redis-monitor.js';
import { until } from '../support/until.js';
import type { Fleet } from './fleet.js';
import { expectAskedOnce, sharedFleet } from './suites.js';

/** Returns the scripts that the instances ran in the store during `work`, but for those that read its clock. */
async function scriptsDuring(
  { redis, server }: Fleet,
  work: () => Promise<void>,
): Promise<readonly (readonly string[])[]> {
  const commands: (readonly string[])[] = [];
  const monitoring = await monitor(server.port, (command) => void commands.push(command));
  const has = (text: string): boolean => commands.some((command) => command.includes(text));
  await redis.echo('begin');
  await until('the commands are seen', () => has('begin'));
  await work();
  await redis.echo('end');
  await until('all commands are seen', () => has('end'));
  monitoring.close();
  return commands.filter(
    (command) => command[0] === 'evalsha' && !command.some((argument) => /:clo[a-z]+$/.test(argument)),
  );
}

describeWithRedis('the store of eight instances', () => {
  const shared = sharedFleet(8);

  it('answers for a session that one of them has checked, and then each answers from its own cache', async () => {
    const fleet = shared();
    const tokens: string[] = [];
    for (let count = 0; count < 20; count += 1) {
      const token = fleet.signIn();
      tokens.push(token);
      await expectAskedOnce(fleet, fleet.all, token);
    }

    const { asked } = fleet;
    const scripts = await scriptsDuring(fleet, async () => {
      const again = await Promise.all(
        fleet.all.flatMap((instance) => tokens.map((token) => instance.status(token))),
      );
      expect(new Set(again)).toEqual(new Set([200]));
    });
    expect([fleet.asked, scripts]).toEqual([asked, []]);
  });

  it.each([
    ['accepts', json({ username: 'ann' }), 200],
    ['refuses', reply(401), 401],
  ] as const)(
    'is not waited for: each asks the service once about a session that it %s, for all requests together',
    async (_how, answer, status) => {
      const fleet = shared();
      const token = fleet.signIn();
      const held = hold(answer);
      fleet.service.on('user_details', held.script);
      const statuses = Promise.all(
        fleet.all.flatMap((instance) => Array.from({ length: 5 }, () => instance.status(token))),
      );
      await until('each has asked', () => fleet.asked === fleet.all.length);
      held.release();
      expect(new Set(await statuses)).toEqual(new Set([status]));
      expect(fleet.asked).toBe(fleet.all.length);
    },
  );

  it('returns the record to every instance as the service sent it', async () => {
    const fleet = shared();
    const [first, ...others] = fleet.all;
    const token = `${fleet.signIn()}/+of="zoe"`;
    fleet.signIn(
      { username: 'zoë', role: 'hiring_manager', ccl_info: { ccl_name: 'ccl', ccl_id: 7 } },
      token,
    );

    const user: unknown = await (await first.get(token)).json();
    expect(user).toMatchObject({ username: 'zoë', role: 'hiring_manager' });
    await fleet.key('V');
    for (const other of others) expect(await (await other.get(token)).json()).toEqual(user);
    expect(fleet.asked).toBe(1);
  });

  it('stores a record of 64 KiB, the most that the service may send', async () => {
    const fleet = shared();
    const [one, other] = fleet.all;
    const token = fleet.signIn({ username: 'u'.repeat(60_000) });
    await one.status(token);
    await fleet.key('V');
    expect([await other.status(token), fleet.asked]).toEqual([200, 1]);
  });
});
