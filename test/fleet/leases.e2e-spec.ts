import { expect } from '@jest/globals';
import { json, reply, type Script } from 'nestjs-session-auth/testing';
import type { Fleet } from './fleet.js';
import { fleets, sharedFleet } from './suites.js';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { plainRow } from '../support/trial/row.js';

const ANN = { username: 'ann' };
/** The longest that a check may take here. A lease lasts as long. */
const TIMEOUT_MS = 30_000;
/** Without a sign of life a lease lasts 50 ms, by default; on a busy machine the other instances may take their time to see it. */
const LEFT_OF_LEASE_MS = 20_000;

/** Answers each call when the test says so. */
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
    /** Lets the calls that wait, and all later ones, be answered. */
    open: () => {
      open = true;
      for (const next of waiting.splice(0)) next();
    },
  };
}

/** The addresses of the clients that looked for an entry, from now on. */
async function clientsOf(fleet: Fleet): Promise<ReadonlySet<string>> {
  const clients = new Set<string>();
  const monitor = await fleet.redis.monitor();
  fleet.keep({ close: () => monitor.disconnect() });
  monitor.on('monitor', (_time: string, args: string[], source: string) => {
    if (args[0]?.toLowerCase() === 'evalsha') clients.add(source);
  });
  return clients;
}

describeWithRedis('instances that check one session at the same time', () => {
  const shared = sharedFleet(6, { options: { timeoutMs: TIMEOUT_MS } });

  plainRow('where the service takes more than a second, one instance asks it and all let the user in [Q01]', async () => {
    const fleet = shared();
    fleet.service.on('user_details', (...call) => void setTimeout(() => json(ANN)(...call), 1_500));
    const statuses = await Promise.all(fleet.all.slice(0, 3).map((instance) => instance.status('token')));
    expect([statuses, fleet.asked]).toEqual([[200, 200, 200], 1]);
  });

  plainRow('where the service refuses a token, no instance waits for another longer than for one answer of the service [Q10]', async () => {
    const fleet = shared();
    const { waiting, script, open } = gate();
    fleet.service.on('user_details', script(reply(401)));
    const clients = await clientsOf(fleet);
    const statuses = Promise.all(fleet.all.map((instance) => instance.status('refused')));
    await until('all have seen that one instance asks', () => waiting.length === 1 && clients.size === 6);
    waiting.pop()?.();
    await until('all others ask at the same time', () => waiting.length === 5);
    open();
    expect(await statuses).toEqual(Array(6).fill(401));
  });
});

describeWithRedis('an instance that waits for the answer of another', () => {
  const start = fleets();

  /** One instance gets no answer of the service; another waits for it when the fault happens, and gets one. */
  async function tryFault(
    fault: (fleet: Awaited<ReturnType<typeof start>>, holder: Awaited<ReturnType<(typeof fleet)['instance']>>) => unknown,
  ) {
    const fleet = await start();
    const options = { timeoutMs: TIMEOUT_MS };
    const [holder, other] = await Promise.all([
      fleet.instance({ options, store: {} }),
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

  plainRow('asks the service itself as soon as that one has crashed, long before its lease would end [Q02]', async () => {
    const { leftMs, lost } = await tryFault((_fleet, holder) => holder.crash());
    expect(lost).toBe('gone');
    // It has a lease of its own by then, or none.
    expect(leftMs === -2 || leftMs > LEFT_OF_LEASE_MS).toBe(true);
  });

  plainRow('asks the service itself as soon as that one has lost Redis, and both let the user in [Q02]', async () => {
    const { leftMs, lost } = await tryFault((_fleet, holder) => holder.do('dropClient'));
    expect([lost, leftMs === -2 || leftMs > LEFT_OF_LEASE_MS]).toEqual([200, true]);
  });

  plainRow('asks the service itself as soon as Redis is full, and both let the user in [Q02]', async () => {
    const { lost } = await tryFault(({ redis }) => redis.config('SET', 'maxmemory', '1'));
    expect(lost).toBe(200);
  });

  plainRow('asks the service itself as soon as Redis is a replica that can be read only, and both let the user in [Q02]', async () => {
    const { lost } = await tryFault(({ redis }) => redis.call('REPLICAOF', '127.0.0.1', '1'));
    expect(lost).toBe(200);
  });
});
