import { expect, it } from '@jest/globals';
import { SessionAuthService } from 'nestjs-session-auth';
import { json } from 'nestjs-session-auth/testing';
import { platforms } from '../support/platforms.js';
import { monitor } from '../support/redis-monitor.js';
import { describeWithRedis } from '../support/redis.js';
import { formsOf, KEY, PASSWORD } from '../support/trial/canaries.js';
import { until } from '../support/until.js';
import type { Fleet } from '../fleet/fleet.js';
import type { Instance } from '../fleet/instance.js';
import { StoreBed } from '../fleet/store-bed.js';
import { fleets } from '../fleet/suites.js';

const [OLD, NEW] = ['the old secret of the store', 'the new secret of the store'];

describeWithRedis('the secret of a store', () => {
  const start = fleets();

  async function withSecrets(
    fleet: Fleet,
    ...secrets: (string | string[] | undefined)[]
  ): Promise<Instance[]> {
    const started = secrets.map((secret, index) =>
      fleet.instance({
        platform: index % 2 ? 'Fastify' : 'Express',
        store: secret === undefined ? {} : { secret },
      }),
    );
    const instances = await Promise.all(started);
    await fleet.receiving(...instances);
    return instances;
  }

  async function rotate(fleet: Fleet, instances: Instance[], calls: number): Promise<void> {
    for (const order of [instances, [...instances].reverse()]) {
      const before = fleet.asked;
      const token = fleet.signIn();
      for (const instance of order) {
        expect(await instance.status(token)).toBe(200);
        await until('the answer is kept', async () => (await valuesIn(fleet)) > 0);
      }
      expect(fleet.asked - before).toBeLessThanOrEqual(calls);
      fleet.revoke(token);
      expect(await order[0]?.do('signOut', token)).toBe('done');
      for (const instance of instances) {
        await until('it denies', async () => (await instance.status(token)) === 401);
        expect(await instance.do('revocationsOf', token)).toBe(1);
      }
      await fleet.redis.flushall();
    }
  }

  async function valuesIn({ redis }: Fleet): Promise<number> {
    const values = await Promise.all((await redis.keys('*')).map((key) => redis.getrange(key, 0, 0)));
    return values.filter((value) => value === 'V').length;
  }

  it('is rotated without a second call, while one instance after the other takes each step, and a sign-out reaches all', async () => {
    const fleet = await start();
    const steps = await withSecrets(fleet, OLD, [OLD, NEW], [NEW, OLD], NEW);
    for (let step = 1; step < steps.length; step += 1)
      await rotate(fleet, steps.slice(step - 1, step + 1), 1);
    // Where steps were left out, each of the two secrets costs one question.
    await rotate(fleet, steps.slice(1), 2);
  });

  it('is derived from the application key where none is given, so that other keys share nothing', async () => {
    const fleet = await start();
    const [one, other] = await withSecrets(fleet, undefined, undefined);
    const stranger = await fleet.instance({ options: { apiKey: 'another-key' } });
    const token = fleet.signIn();
    expect([await one?.status(token), await fleet.key('V'), await other?.status(token), fleet.asked]).toEqual(
      [200, expect.any(String), 200, 1],
    );
    expect([await stranger.status(token), fleet.asked]).toEqual([200, 2]);
  });
});

/** Long enough that no sealed bytes hold one by chance. */
const SECRETS = {
  token: 'canary-token/+=%"2',
  iv: 'canary-iv/+=%"3',
  username: 'canary-username',
  email: 'canary-email@example.com',
  role: 'canary-role',
  field: 'canary-first-name',
};
const { token, iv, username, email, role, field } = SECRETS;
const USER = { username, email, role, first_name: field, auth_token: token };

describeWithRedis('Redis', () => {
  it.each(platforms('Fastify'))(
    'receives no token, key, IV, password, name, email or role in clear, from an application on %s [I04]',
    (_name, platform) =>
      StoreBed.during(platform, async (bed) => {
        const texts: string[] = [];
        const monitoring = await monitor(bed.server.port, (args) => texts.push(args.join(' ')));
        const having = (part: string): number =>
          texts.filter((text) => text.toLowerCase().includes(part)).length;
        /** Records every entry of the store, and expects that each expires. */
        const dump = async (): Promise<void> => {
          for (const key of await bed.redis.keys('*')) {
            texts.push(key, (await bed.redis.getBuffer(key))?.toString('latin1') ?? '');
            // -1 is a key that does not expire; -2, one that has just expired.
            expect(await bed.redis.pttl(key)).not.toBe(-1);
          }
        };
        const setup = { options: { apiKey: KEY } };
        const app = await bed.connectedApp(setup);
        const sessions = app.app.get(SessionAuthService);
        bed.service.on('sign_in', json(USER));
        bed.service.on('user_details', json(USER));
        await until(
          'it listens',
          async () => (await bed.redis.pubsub('NUMSUB', 'session-auth:messages'))[1] === 1,
        );
        await sessions.signIn({ username, password: PASSWORD }, { authIv: iv });
        await bed.kept(token, setup, iv);
        await dump();
        await sessions.forget(token);
        await bed.kept(token, setup);
        await dump();
        await sessions.signOut(token, { authIv: iv });
        await until('the revocation is published', () => having('publish session-auth:messages') >= 2);
        await dump();
        monitoring.close();

        for (const command of ['evalsha', 'publish', 'subscribe', 'set session-auth:'])
          expect(having(command)).toBeGreaterThan(0);
        const text = texts.join('\n').toLowerCase();
        const forms = [KEY, PASSWORD, ...Object.values(SECRETS)].flatMap((secret) => formsOf(secret));
        expect(forms.filter((form) => text.includes(form.toLowerCase()))).toEqual([]);
      }),
  );
});
