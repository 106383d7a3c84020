import { expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { SessionAuthService } from 'nestjs-session-auth';
import { json } from 'nestjs-session-auth/testing';
import { formsOf, KEY, PASSWORD } from '../support/trial/canaries.js';
import { PLATFORMS } from '../support/platforms.js';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { StoreBed } from './store-bed.js';

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

/** Everything that Redis was told and has, one byte a character. */
class Overheard {
  readonly texts: string[] = [];

  /** Everything that is in the store now, and whether it lapses. */
  async dump(redis: Redis): Promise<void> {
    for (const key of await redis.keys('*')) {
      const value = (await redis.getBuffer(key)) ?? Buffer.alloc(0);
      this.texts.push(key, value.toString('latin1'), value.toString('hex'), value.toString('base64'));
      expect(await redis.pttl(key)).toBeGreaterThan(0);
    }
  }

  /** What of the secrets can be read in it. */
  get secrets(): string[] {
    const text = this.texts.join('\n').toLowerCase();
    const forms = [KEY, PASSWORD, ...Object.values(SECRETS)].flatMap((secret) => formsOf(secret));
    return forms.filter((form) => text.includes(form.toLowerCase()));
  }

  having(part: string): number {
    return this.texts.filter((text) => text.toLowerCase().includes(part)).length;
  }
}

/** Overhears every command, and every message. */
async function overhear(port: number): Promise<Overheard & { close(): void }> {
  const overheard = new Overheard();
  const listener = new Redis(port, '127.0.0.1');
  const client = new Redis(port, '127.0.0.1');
  const monitor = await client.monitor();
  client.disconnect();
  monitor.on('monitor', (_time: string, args: string[]) => overheard.texts.push(args.join(' ')));
  await listener.psubscribe('*');
  listener.on('pmessageBuffer', (_pattern: string, channel: Buffer, message: Buffer) => {
    overheard.texts.push(`message ${channel.toString()}`, message.toString('latin1'), message.toString('hex'), message.toString('base64'));
  });
  const close = (): void => [listener, monitor].forEach((one) => one.disconnect());
  return Object.assign(overheard, { close });
}

describeWithRedis('Redis', () => {
  it.each(PLATFORMS)('is told nothing that it could read, by an application on %s', (_name, platform) =>
    StoreBed.during(platform, async (bed) => {
      const overheard = await overhear(bed.server.port);
      const app = await bed.connectedApp({ options: { apiKey: KEY } });
      const sessions = app.app.get(SessionAuthService);
      bed.service.on('sign_in', json(USER));
      bed.service.on('user_details', json(USER));
      await until('it listens', async () => (await bed.redis.pubsub('NUMSUB', 'session-auth:messages'))[1] === 1);
      await sessions.signIn({ username, password: PASSWORD }, { authIv: iv });
      await bed.kept(token, app, iv);
      await overheard.dump(bed.redis);
      await sessions.forget(token);
      await bed.kept(token, app);
      await overheard.dump(bed.redis);
      await sessions.signOut(token, { authIv: iv });
      await until('the end is announced', () => overheard.having('message session-auth:messages') >= 2);
      await overheard.dump(bed.redis);
      overheard.close();

      for (const command of ['evalsha', 'publish', 'subscribe', 'set session-auth:']) expect(overheard.having(command)).toBeGreaterThan(0);
      expect(overheard.secrets).toEqual([]);
      // The search finds what is there.
      overheard.texts.push(Buffer.from(`{"a":"${email}"}`).toString('base64'));
      expect(overheard.secrets).not.toEqual([]);
    }),
  );
});
