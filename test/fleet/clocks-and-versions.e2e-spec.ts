import { expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { IsIn, ValidateBy } from 'class-validator';
import { UserRecord, SessionAuthService } from 'nestjs-session-auth';
import { json } from 'nestjs-session-auth/testing';
import type { Redis } from 'ioredis';
import { sessionKeysOf, type SessionKeys } from '../../libs/session-auth/src/contract/session-identity.js';
import { SessionSeal } from '../../libs/session-auth/src/fleet/session-seal.js';
import { describeWithRedis, redisClient } from '../support/redis.js';
import { monitor } from '../support/redis-monitor.js';
import { until } from '../support/until.js';
import { platforms, type Platform } from '../support/platforms.js';
import { formsOf, KEY, PASSWORD } from '../support/trial/canaries.js';
import { CHANNEL, type Fleet } from './fleet.js';
import type { Instance } from './instance.js';
import type { InstanceSettings } from './instance-settings.js';
import { fleets } from './suites.js';
import { StoreBed } from './store-bed.js';

const MINUTES_MS = 600_000;
const TTL_MS = 2_000;
/**
 * The longest time of a value on its way to Redis, which adds to its lifetime there: the store's `timeoutMs`
 * in these fleets.
 */
const STORE_TIMEOUT_MS = 1_000;
const PLATFORM_OF = ['Express', 'Fastify', 'Express'] as const;

/** The warnings of an instance, but not that Redis is late: on a busy machine it may be. */
async function warningsOf(instance: Instance): Promise<unknown[]> {
  const warnings = await instance.do('warnings');
  return warnings.filter((line) => !line.includes('session store unavailable'));
}

describeWithRedis('instances of an application', () => {
  const start = fleets();

  /** Three instances on hosts whose wall clocks are right, ten minutes fast and ten minutes slow. */
  async function withClocksOff(fleet: Fleet, settings: Partial<InstanceSettings> = {}): Promise<Instance[]> {
    const instances = await Promise.all(
      [0, MINUTES_MS, -MINUTES_MS].map((clockOffsetMs, index) =>
        fleet.instance({ platform: PLATFORM_OF[index] ?? 'Express', clockOffsetMs, ...settings }),
      ),
    );
    await fleet.receiving(...instances);
    return instances;
  }

  it('a sign-out counts on hosts whose clocks are minutes apart, and each of them writes one log line [Q08]', async () => {
    const fleet = await start();
    const all = await withClocksOff(fleet);
    for (const one of all) {
      const token = fleet.signIn();
      for (const instance of all) expect(await instance.status(token)).toBe(200);
      fleet.revoke(token);
      expect(await one.do('signOut', token)).toBe('done');
      for (const instance of all) {
        await until(
          'the sign-out is received',
          async () => (await instance.do('revocationsOf', token)) === 1,
        );
        expect(await instance.status(token)).toBe(401);
      }
    }

    const warnings = await Promise.all(all.map(warningsOf));
    expect(warnings).toEqual(all.map(() => [expect.stringContaining('clock differs')]));
  });

  it('a clock that is minutes off makes no lifetime longer, neither of stored nor of read entries [Q08]', async () => {
    const fleet = await start();
    const all = await withClocksOff(fleet, { options: { cache: { ttlMs: TTL_MS } } });
    const acceptedAtMs = new Map<string, number>();
    fleet.service.on('user_details', (request, ...call) => {
      acceptedAtMs.set(String(request.headers['x-auth-token']), performance.now());
      fleet.details(request, ...call);
    });
    const tokens = all.map(() => fleet.signIn());
    for (const [index, token] of tokens.entries()) {
      const [first, ...others] = [...all.slice(index), ...all.slice(0, index)];
      for (const instance of [first, ...others]) expect(await instance?.status(token)).toBe(200);
    }
    // Only lifetimes may end these sessions: the first refusal is published to no other instance.
    await fleet.redis.call('ACL', 'SETUSER', 'default', '-publish');
    fleet.service.on('user_details', fleet.details);
    for (const token of tokens) fleet.revoke(token);

    const ages: number[] = [];
    const check = async (instance: Instance, token: string): Promise<number> => {
      const ageMs = performance.now() - (acceptedAtMs.get(token) ?? NaN);
      const status = await instance.status(token);
      if (status === 200) ages.push(ageMs);
      return status;
    };
    await until('every instance denies every session', async () => {
      const statuses = await Promise.all(
        all.flatMap((instance) => tokens.map((token) => check(instance, token))),
      );
      return statuses.every((status) => status === 401);
    });
    expect(ages.filter((ageMs) => !(ageMs < TTL_MS + STORE_TIMEOUT_MS))).toEqual([]);
  });

  const sealOf = (fleet: Fleet): SessionSeal => new SessionSeal('application-key', fleet.service.url);

  /**
   * Returns a message about a session as an instance of another version could publish it, correctly sealed.
   */
  function messagesAbout({ tokenKey: token }: SessionKeys): string[] {
    const envelope = (fields: object): string =>
      JSON.stringify({
        id: randomUUID(),
        at: Date.now(),
        token: Buffer.from(token, 'latin1').toString('base64'),
        ...fields,
      });
    const kinds = ['renewed', 'lost', 'constructor', '__proto__', '', 5, null, ['signedOut'], {}].map(
      (kind) => envelope({ kind }),
    );
    const fields = [
      {},
      { kind: 'signedOut', token: 5 },
      { kind: 'signedOut', token: null },
      { kind: 'userRevoked', username: 5 },
    ].map(envelope);
    return [...kinds, ...fields, 'null', '[]', '5', '"signedOut"', '{}', 'signedOut', ''];
  }

  it('a message of an unknown kind, or one that cannot be read, changes nothing on any instance [Q09]', async () => {
    const fleet = await start();
    const [one, other] = (await fleet.instances(2)) as [Instance, Instance];
    const token = fleet.signIn();
    for (const instance of [one, other]) expect(await instance.status(token)).toBe(200);
    const { asked } = fleet;

    for (const text of messagesAbout(sessionKeysOf({ token, authIv: undefined }))) {
      expect(await fleet.redis.publish(CHANNEL, sealOf(fleet).sealMessage(text))).toBe(2);
    }
    const last = fleet.signIn();
    expect(await one.do('signOut', last)).toBe('done');
    for (const instance of [one, other]) {
      await until(
        'a later message is received',
        async () => (await instance.do('revocationsOf', last)) === 1,
      );
      expect([
        await instance.status(token),
        await instance.do('revocations'),
        await warningsOf(instance),
      ]).toEqual([200, 1, []]);
    }
    expect(fleet.asked).toBe(asked);
  });

  const ADMIN = { username: 'eve', role: 'admin' };
  /** Stands for the time at which a record is sealed. */
  const NOW = '<now>';

  /** Returns a session as an instance of another version could store it, correctly sealed. */
  const RECORDS = [
    ...['null', '[]', '5', '"ann"', '{}', 'ann', ''],
    ...[
      { version: 2, user: ADMIN },
      { version: 2, confirmed: new Date(), lifetime: 60, record: ADMIN },
    ].map((record) => JSON.stringify(record)),
    ...[null, [], 'ann', {}].map((json) =>
      JSON.stringify({ confirmedAt: 'now', ttlMs: 60_000, hasToken: true, since: 0, json }).replace(
        '"now"',
        NOW,
      ),
    ),
    ...['', {}, '60 s'].map((ttlMs) =>
      JSON.stringify({ confirmedAt: 'now', ttlMs, hasToken: false, since: '', json: ADMIN }),
    ),
  ];

  /** The key of a session in Redis, as soon as it has a value. */
  async function storedKey({ redis }: Fleet, name: string): Promise<string> {
    let key = '';
    await until('the session is stored', async () => {
      [key = ''] = await redis.keys(`*${name}`);
      return key !== '' && (await redis.getrange(key, 0, 0)) === 'V';
    });
    return key;
  }

  it('a value of an unknown version counts as missing: the service decides [Q09]', async () => {
    const fleet = await start();
    const [one, other] = (await fleet.instances(2)) as [Instance, Instance];
    const seal = sealOf(fleet);
    const forged = RECORDS.map((text) => ({
      text,
      of: (keys: SessionKeys) => seal.sealValue(keys, text.replace(NOW, String(Date.now()))),
    }));
    const nextSeal = {
      text: 'the seal',
      of: (keys: SessionKeys) => Buffer.concat([Buffer.of(2), seal.sealValue(keys, '{}').subarray(1)]),
    };
    for (const { text, of } of [...forged, nextSeal]) {
      const token = fleet.signIn();
      const keys = sessionKeysOf({ token, authIv: undefined });
      expect(await one.status(token)).toBe(200);
      const key = await storedKey(fleet, seal.nameOf(keys.tokenKey));
      await fleet.redis.set(key, Buffer.concat([Buffer.from('V'), of(keys)]), 'PX', 60_000);
      const { asked } = fleet;
      const response = await other.get(token);
      expect([text, response.status, await response.json(), fleet.asked - asked]).toMatchObject([
        text,
        200,
        { username: 'ann' },
        1,
      ]);
    }
    expect(await warningsOf(other)).toEqual([]);
  });
});

const READER = { username: 'ann', role: 'reader' };

/** An instance cannot read unknown versions. */
const Throwing = (): PropertyDecorator =>
  ValidateBy({
    name: 'throwing',
    validator: {
      validate: (value) => {
        if (value !== 'new') throw new Error('This version does not know such a record');
        return true;
      },
    },
  });

class NextRecord extends UserRecord {
  @Throwing() readonly shape?: string;
}

class StricterRecord extends UserRecord {
  @IsIn(['new']) readonly shape?: string;
}

describeWithRedis('another version of an application', () => {
  it.each(platforms('Fastify'))(
    'on %s names the field of a stored record that it does not accept',
    (_name: string, platform: Platform) =>
      StoreBed.during(platform, async (bed) => {
        bed.service.on('user_details', json({ ...READER, shape: 'old' }));
        await bed.kept('token');
        bed.service.on('user_details', json({ ...READER, shape: 'new' }));
        const next = await bed.connectedApp({ options: { userRecord: StricterRecord } });
        expect((await next.get('/me', 'token')).status).toBe(200);
        expect(next.log.having('warn', 'invalid user record')).toEqual([
          expect.stringContaining(
            'cache.store has a record of another version, but shape must satisfy isIn. A call replaces it.',
          ),
        ]);
      }),
  );

  it.each(platforms('Fastify'))('on %s makes a call for an entry that it cannot read', (_name, platform) =>
    StoreBed.during(platform, async (bed) => {
      bed.service.on('user_details', json(READER));
      await bed.kept('token');
      bed.service.on('user_details', json({ ...READER, shape: 'new' }));
      const next = await bed.connectedApp({ options: { userRecord: NextRecord } });
      const before = bed.asked;
      expect([
        (await next.get('/me', 'token')).status,
        (await next.get('/me', 'token')).status,
        bed.asked - before,
      ]).toEqual([200, 200, 1]);
    }),
  );
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

/** All commands, messages and values of Redis, one byte a character. */
class RecordedTraffic {
  readonly texts: string[] = [];

  /** Records every entry of the store, and expects that each expires. */
  async dump(redis: Redis): Promise<void> {
    for (const key of await redis.keys('*')) {
      const value = (await redis.getBuffer(key)) ?? Buffer.alloc(0);
      this.texts.push(key, value.toString('latin1'), value.toString('hex'), value.toString('base64'));
      // -1 is a key that does not expire; -2, one that has just expired.
      expect(await redis.pttl(key)).not.toBe(-1);
    }
  }

  /** Returns the secrets that can be read in it. */
  get secrets(): string[] {
    const text = this.texts.join('\n').toLowerCase();
    const forms = [KEY, PASSWORD, ...Object.values(SECRETS)].flatMap((secret) => formsOf(secret));
    return forms.filter((form) => text.includes(form.toLowerCase()));
  }

  having(part: string): number {
    return this.texts.filter((text) => text.toLowerCase().includes(part)).length;
  }
}

/** Records every command and every message. */
async function recordTraffic(port: number): Promise<RecordedTraffic & { close(): void }> {
  const traffic = new RecordedTraffic();
  const listener = redisClient(port);
  const monitoring = await monitor(port, (args) => traffic.texts.push(args.join(' ')));
  await listener.psubscribe('*');
  listener.on('pmessageBuffer', (_pattern: string, channel: Buffer, message: Buffer) => {
    traffic.texts.push(
      `message ${channel.toString()}`,
      message.toString('latin1'),
      message.toString('hex'),
      message.toString('base64'),
    );
  });
  const close = (): void => {
    listener.disconnect();
    monitoring.close();
  };
  return Object.assign(traffic, { close });
}

describeWithRedis('Redis', () => {
  it.each(platforms('Fastify'))(
    'receives nothing that it could read, from an application on %s',
    (_name, platform) =>
      StoreBed.during(platform, async (bed) => {
        const traffic = await recordTraffic(bed.server.port);
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
        await traffic.dump(bed.redis);
        await sessions.forget(token);
        await bed.kept(token, setup);
        await traffic.dump(bed.redis);
        await sessions.signOut(token, { authIv: iv });
        await until(
          'the revocation is published',
          () => traffic.having('message session-auth:messages') >= 2,
        );
        await traffic.dump(bed.redis);
        traffic.close();

        for (const command of ['evalsha', 'publish', 'subscribe', 'set session-auth:'])
          expect(traffic.having(command)).toBeGreaterThan(0);
        expect(traffic.secrets).toEqual([]);
        // The search works: it finds a secret that was added.
        traffic.texts.push(Buffer.from(`{"a":"${email}"}`).toString('base64'));
        expect(traffic.secrets).not.toEqual([]);
      }),
  );
});
