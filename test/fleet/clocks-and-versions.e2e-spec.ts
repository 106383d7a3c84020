import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { sessionKeysOf, type SessionKeys } from '../../libs/session-auth/src/contract/session-identity.js';
import { SessionSeal } from '../../libs/session-auth/src/verifier/shared/session-seal.js';
import { CHANNEL, type Fleet } from './fleet.js';
import type { Instance } from './instance.js';
import type { InstanceSettings } from './instance-settings.js';
import { fleets } from './suites.js';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { plainRow } from '../support/trial/row.js';

const MINUTES_MS = 600_000;
const TTL_MS = 2_000;
/** What the way of a value to Redis may add to its lifetime there: the store's `timeoutMs` in these fleets. */
const STORE_TIMEOUT_MS = 1_000;
const PLATFORM_OF = ['Express', 'Fastify', 'Express'] as const;

describeWithRedis('instances of an application', () => {
  const start = fleets();

  /** Three instances on hosts whose wall clocks are right, ten minutes fast and ten minutes slow. */
  async function withClocksOff(fleet: Fleet, settings: Partial<InstanceSettings> = {}): Promise<Instance[]> {
    const instances = await Promise.all(
      [0, MINUTES_MS, -MINUTES_MS].map((clockOffsetMs, index) =>
        fleet.instance({ platform: PLATFORM_OF[index] ?? 'Express', clockOffsetMs, ...settings }),
      ),
    );
    await fleet.hear(instances.length);
    return instances;
  }

  plainRow('a sign-out counts on hosts whose clocks are minutes apart, and each of them writes one log line [Q08]', async () => {
    const fleet = await start();
    const all = await withClocksOff(fleet);
    for (const one of all) {
      const token = fleet.signIn();
      for (const instance of all) expect(await instance.status(token)).toBe(200);
      fleet.revoke(token);
      expect(await one.do('signOut', token)).toBe('done');
      for (const instance of all) {
        await until('the sign-out is received', async () => (await instance.do('endsOf', token)) === 1);
        expect(await instance.status(token)).toBe(401);
      }
    }

    const warnings = await Promise.all(all.map((instance) => instance.do('warnings')));
    expect(warnings).toEqual(all.map(() => [expect.stringContaining('clock differs')]));
  });

  plainRow('a clock that is minutes off makes no lifetime longer, neither of what it stores nor of what it reads [Q08]', async () => {
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
    // Only lifetimes may end these sessions: the first refusal is told to no other instance.
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
      const statuses = await Promise.all(all.flatMap((instance) => tokens.map((token) => check(instance, token))));
      return statuses.every((status) => status === 401);
    });
    expect(ages.filter((ageMs) => !(ageMs < TTL_MS + STORE_TIMEOUT_MS))).toEqual([]);
  });

  const sealOf = (fleet: Fleet): SessionSeal => new SessionSeal('application-key', fleet.service.url);

  /** What an instance of another version could publish about a session, sealed as it should be. */
  function messagesAbout({ tokenKey: token }: SessionKeys): string[] {
    const envelope = (fields: object): string =>
      JSON.stringify({ id: randomUUID(), at: Date.now(), token: Buffer.from(token, 'latin1').toString('base64'), ...fields });
    const kinds = ['renewed', 'lost', 'constructor', '__proto__', '', 5, null, ['ended'], {}].map((kind) => envelope({ kind }));
    const fields = [{}, { kind: 'ended', token: 5 }, { kind: 'ended', token: null }, { kind: 'userEnded', username: 5 }].map(envelope);
    return [...kinds, ...fields, 'null', '[]', '5', '"ended"', '{}', 'ended', ''];
  }

  plainRow('a message of an unknown kind, or one that can not be read, changes nothing on any instance [Q09]', async () => {
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
      await until('a later message is received', async () => (await instance.do('endsOf', last)) === 1);
      expect([await instance.status(token), await instance.do('ends'), await instance.do('warnings')]).toEqual([200, 1, []]);
    }
    expect(fleet.asked).toBe(asked);
  });

  const ADMIN = { username: 'eve', role: 'admin' };
  /** Stands for the time at which a record is sealed. */
  const NOW = '<now>';

  /** What an instance of another version could store as a session, sealed as it should be. */
  const RECORDS = [
    ...['null', '[]', '5', '"ann"', '{}', 'ann', ''],
    ...[
      { version: 2, user: ADMIN },
      { version: 2, confirmed: new Date(), lifetime: 60, record: ADMIN },
    ].map((record) => JSON.stringify(record)),
    ...[null, [], 'ann', {}].map((json) =>
      JSON.stringify({ confirmedAt: 'now', ttlMs: 60_000, hasToken: true, since: 0, json }).replace('"now"', NOW),
    ),
    ...['', {}, '60 s'].map((ttlMs) => JSON.stringify({ confirmedAt: 'now', ttlMs, hasToken: false, since: '', json: ADMIN })),
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

  plainRow('a value of an unknown version counts as missing: the service decides [Q09]', async () => {
    const fleet = await start();
    const [one, other] = (await fleet.instances(2)) as [Instance, Instance];
    const seal = sealOf(fleet);
    const forged = RECORDS.map((text) => ({
      text,
      of: (keys: SessionKeys) => seal.sealValue(keys, text.replace(NOW, String(Date.now()))),
    }));
    const nextSeal = { text: 'the seal', of: (keys: SessionKeys) => Buffer.concat([Buffer.of(2), seal.sealValue(keys, '{}').subarray(1)]) };
    for (const { text, of } of [...forged, nextSeal]) {
      const token = fleet.signIn();
      const keys = sessionKeysOf({ token, authIv: undefined });
      expect(await one.status(token)).toBe(200);
      const key = await storedKey(fleet, seal.nameOf(keys.tokenKey));
      await fleet.redis.set(key, Buffer.concat([Buffer.from('V'), of(keys)]), 'PX', 60_000);
      const { asked } = fleet;
      const response = await other.get(token);
      expect([text, response.status, await response.json(), fleet.asked - asked]).toMatchObject([text, 200, { username: 'ann' }, 1]);
    }
    expect(await other.do('warnings')).toEqual([]);
  });
});
