import { expect, it } from '@jest/globals';
import { json, reply, type Script } from 'nestjs-session-auth/testing';
import { describeWithRedis } from '../support/redis.js';
import { monitor } from '../support/redis-monitor.js';
import { until } from '../support/until.js';
import { PATIENCE_MS, type Fleet } from './fleet.js';
import { expectAskedOnce, fleets, sharedFleet } from './suites.js';

const ANN = { username: 'ann' };
/** The longest that a check may take here. A lease lasts as long. */
const CHECK_TIMEOUT_MS = 30_000;
/**
 * Without a heartbeat a lease lasts for `PATIENCE_MS`; on a busy machine the other instances may notice its
 * end later.
 */
const LEFT_OF_LEASE_MS = 20_000;

/** Answers each call when the test releases it. */
function gate() {
  const waiting: (() => void)[] = [];
  let open = false;
  return {
    waiting,
    script:
      (answer: Script): Script =>
      (...call) => {
        if (open) answer(...call);
        else waiting.push(() => answer(...call));
      },
    /** Releases the calls that wait, and all later ones. */
    open: () => {
      open = true;
      for (const next of waiting.splice(0)) next();
    },
  };
}

/** The addresses of the clients that looked for an entry, from now on. */
async function clientsOf(fleet: Fleet): Promise<ReadonlySet<string>> {
  const clients = new Set<string>();
  fleet.keep(
    await monitor(fleet.server.port, (args, client) => {
      if (args[0]?.toLowerCase() === 'evalsha') clients.add(client);
    }),
  );
  return clients;
}

describeWithRedis('instances that check one session at the same time', () => {
  const shared = sharedFleet(6, { options: { timeoutMs: CHECK_TIMEOUT_MS } });

  it('share one call if the service takes more than a second, and all let the user in [Q01]', async () => {
    const fleet = shared();
    const [token, before] = [fleet.signIn(), fleet.asked];
    const { script, open } = gate();
    fleet.service.on('user_details', script(json(ANN)));
    const beats = [performance.now()];
    fleet.keep(
      await monitor(fleet.server.port, ([command, key]) => {
        if (command === 'set' && key?.includes(':alive:')) beats.push(performance.now());
      }),
    );
    const statuses = Promise.all(fleet.all.slice(0, 3).map((instance) => instance.status(token)));
    await until('five heartbeats take longer than the lease lasts without them', () => beats.length > 5);
    open();
    expect(await statuses).toEqual([200, 200, 200]);
    // A machine that stalls sends them so late that the others ask too.
    const longest = Math.max(...beats.map((at, index) => at - (beats[index - 1] ?? at)));
    expect(fleet.asked - before).toBeLessThanOrEqual(longest < 0.8 * PATIENCE_MS ? 1 : 3);
  });

  it('wait for each other no longer than for one answer of the service if it refuses a token [Q10]', async () => {
    const fleet = shared();
    const refused = fleet.signIn();
    const { waiting, script, open } = gate();
    fleet.service.on('user_details', script(reply(401)));
    const clients = await clientsOf(fleet);
    const statuses = Promise.all(fleet.all.map((instance) => instance.status(refused)));
    await until('all have seen that one instance asks', () => waiting.length === 1 && clients.size === 6);
    waiting.pop()?.();
    await until('all others ask at the same time', () => waiting.length === 5);
    open();
    expect(await statuses).toEqual(Array(6).fill(401));
  });
});

describeWithRedis('an instance that waits for the answer of another', () => {
  const start = fleets();

  /**
   * One instance gets no answer of the service; another waits for it when the fault happens, and gets one.
   */
  async function tryFault(
    fault: (
      fleet: Awaited<ReturnType<typeof start>>,
      holder: Awaited<ReturnType<(typeof fleet)['instance']>>,
    ) => unknown,
    ownProcess = false,
  ) {
    const fleet = await start();
    const options = { timeoutMs: CHECK_TIMEOUT_MS };
    const [holder, other] = await Promise.all([
      fleet.instance({ options, store: {}, ownProcess }),
      fleet.instance({ options, store: {}, platform: 'Fastify' }),
    ]);
    const { waiting, script, open } = gate();
    fleet.service.on('user_details', script(json(ANN)));
    const lost = holder.status('token').catch(() => 'gone');
    await until('the holder asks', () => waiting.length === 1);
    const lease = await fleet.key('L');
    const status = other.status('token');
    await fault(fleet, holder);
    await until('the other one asks', () => waiting.length === 2);
    const leftMs = await fleet.redis.pttl(lease);
    open();
    expect(await status).toBe(200);
    return { leftMs, lost: await lost };
  }

  it('asks the service itself as soon as the other has crashed, long before its lease would end [Q02]', async () => {
    const { leftMs, lost } = await tryFault((_fleet, holder) => holder.crash(), true);
    expect(lost).toBe('gone');
    // It has a lease of its own by then, or none.
    expect(leftMs === -2 || leftMs > LEFT_OF_LEASE_MS).toBe(true);
  });

  it('asks the service itself as soon as the other has lost Redis, and both let the user in [Q02]', async () => {
    const { leftMs, lost } = await tryFault((_fleet, holder) => holder.do('dropClient'));
    expect([lost, leftMs === -2 || leftMs > LEFT_OF_LEASE_MS]).toEqual([200, true]);
  });

  it('asks the service itself as soon as Redis is full, and both let the user in [Q02]', async () => {
    const { lost } = await tryFault(({ redis }) => redis.config('SET', 'maxmemory', '1'));
    expect(lost).toBe(200);
  });

  it('asks the service itself as soon as Redis is a replica that can be read only, and both let the user in [Q02]', async () => {
    const { lost } = await tryFault(({ redis }) => redis.call('REPLICAOF', '127.0.0.1', '1'));
    expect(lost).toBe(200);
  });
});

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

  it('causes one call for concurrent checks of one token on all instances, and then each answers from its own cache', async () => {
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

  it('returns the record to every instance as the service sent it', async () => {
    const fleet = shared();
    const [first, ...others] = fleet.all;
    const token = `${fleet.signIn()}/+of="zoe"`;
    fleet.signIn(
      { username: 'zoë', role: 'hiring_manager', ccl_info: { ccl_name: 'ccl', ccl_id: 7 } },
      token,
    );
    const before = fleet.asked;

    const user: unknown = await (await first.get(token)).json();
    expect(user).toMatchObject({ username: 'zoë', role: 'hiring_manager' });
    for (const other of others) expect(await (await other.get(token)).json()).toEqual(user);
    expect(fleet.asked - before).toBe(1);
  });

  it('stores a record of 64 KiB, the most that the service may send', async () => {
    const fleet = shared();
    await fleet.reset();
    const [one, other] = fleet.all;
    const token = fleet.signIn({ username: 'u'.repeat(60_000) });
    await one.status(token);
    await fleet.key('V');
    expect([await other.status(token), fleet.asked]).toEqual([200, 1]);
  });
});

describeWithRedis('a session in use on several instances', () => {
  const start = fleets();

  it('is refreshed by one of them each time', async () => {
    const fleet = await start();
    const [ttlMs, refreshAheadMs] = [3_000, 1_500];
    const instances = await fleet.instances(4, { options: { cache: { ttlMs, refreshAheadMs } } });
    const token = fleet.signIn();
    const began = performance.now();
    await until('two renewals', async () => {
      const statuses = await Promise.all(instances.map((instance) => instance.status(token)));
      expect(new Set(statuses)).toEqual(new Set([200]));
      return fleet.asked >= 3;
    });
    expect(fleet.asked - 1).toBeLessThanOrEqual((performance.now() - began) / (ttlMs - refreshAheadMs));
  });
});
