import { expect, it } from '@jest/globals';
import { SessionAuthService } from 'nestjs-session-auth';
import { json } from 'nestjs-session-auth/testing';
import { platforms } from '../support/platforms.js';
import { monitor } from '../support/redis-monitor.js';
import { describeWithRedis } from '../support/redis.js';
import { formsOf, KEY, PASSWORD } from '../support/trial/canaries.js';
import { until } from '../support/until.js';
import { StoreBed } from '../fleet/store-bed.js';
import { fleets } from '../fleet/suites.js';

describeWithRedis('the secret of a store', () => {
  const start = fleets();

  it('is rotated by a list: an instance that has both opens what one with the former has stored', async () => {
    const fleet = await start();
    const [former, next] = ['the old secret of the store', 'the new secret of the store'];
    const one = await fleet.instance({ store: { secret: former } });
    const other = await fleet.instance({ platform: 'Fastify', store: { secret: [next, former] } });
    await fleet.receiving(one, other);
    const token = fleet.signIn();
    expect([await one.status(token), await fleet.key('V'), await other.status(token), fleet.asked]).toEqual([
      200,
      expect.any(String),
      200,
      1,
    ]);
  });

  it('is derived from the application key where none is given, so that other keys share nothing', async () => {
    const fleet = await start();
    const [one, other] = await fleet.instances(2);
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
