import { setTimeout as delay } from 'node:timers/promises';
import type { Child } from './child.js';
import type { SeededRandom } from '../../test/support/seeded-random.js';
import { nowMs } from './clock.js';
import type { InstanceApi } from './instance.process.js';
import type { Fault, Journal } from './journal.js';
import type { LinkState, NetworkApi } from './network.process.js';
import type { RedisServer } from './redis-server.js';

/** Targets of the faults. */
export interface Victims {
  readonly redis: RedisServer;
  readonly network: Child<NetworkApi>;
  readonly instances: readonly Child<InstanceApi>[];
}

type Breaks = Fault['breaks'];

/**
 * Injects faults into Redis, the network before it, and instances, one after the other, with pauses without a
 * fault.
 */
export class Faults {
  readonly #victims: Victims;
  readonly #journal: Journal;
  readonly #random: SeededRandom;
  readonly #kinds: Readonly<Record<string, () => Promise<void>>> = {
    cut: () => this.#link('cut', 'cut', 'all'),
    lost: () => this.#link('packets lost', 'lost', 'all'),
    held: () => this.#link('held up', 'held', 'none'),
    answersHeld: () => this.#link('answers held up', 'answersHeld', 'none'),
    slow: () => {
      const delayMs = Math.round(this.#random.between(20, 200));
      return this.#link('slow', { delayMs }, 'none');
    },
    killed: () => this.#kill(),
    restored: () => this.#restore(),
    frozen: () => this.#freezeRedis(),
    full: () => this.#fill(),
    flushed: () =>
      this.#during('Redis flushed', this.#all, 'none', () => this.#victims.redis.command('FLUSHALL')),
    unsubscribed: () => this.#unsubscribe(),
    instanceFrozen: () => this.#freezeInstance(),
  };

  constructor(victims: Victims, journal: Journal, random: SeededRandom) {
    this.#victims = victims;
    this.#journal = journal;
    this.#random = random;
  }

  /** Injects every kind once per round, until the time is over. Then all faults are repaired. */
  async run(untilMs: number): Promise<void> {
    for (;;) {
      for (const kind of this.#random.shuffled(Object.keys(this.#kinds))) {
        await delay(this.#random.between(2_000, 5_000));
        if (nowMs() > untilMs) return;
        await this.#kinds[kind]?.();
      }
    }
  }

  get #all(): readonly number[] {
    return this.#victims.instances.map((_instance, place) => place);
  }

  /** Returns one, some or all instances. */
  #some(): readonly number[] {
    const count = this.#random.pick([1, 1, 3, this.#all.length]);
    return this.#random.shuffled(this.#all).slice(0, count);
  }

  #pause(): Promise<void> {
    return delay(this.#random.between(300, 4_500));
  }

  async #during(
    name: string,
    instances: readonly number[],
    breaks: Breaks,
    work: () => unknown,
    freezes = false,
  ): Promise<void> {
    const fromMs = nowMs();
    await work();
    this.#journal.faults.push({ name, instances, breaks, freezes, fromMs, toMs: nowMs() });
  }

  #link(name: string, state: LinkState, breaks: Breaks): Promise<void> {
    const instances = this.#some();
    const { network } = this.#victims;
    return this.#during(`link ${name}`, instances, breaks, async () => {
      await network.call('set', { instances, state });
      await this.#pause();
      await network.call('set', { instances, state: 'open' });
    });
  }

  #kill(): Promise<void> {
    const { redis } = this.#victims;
    return this.#during('Redis killed', this.#all, 'all', async () => {
      await redis.kill();
      await this.#pause();
      await redis.run();
    });
  }

  /** Simulates a fail-over to a lagging replica, which lacks recent revocations. */
  async #restore(): Promise<void> {
    const { redis } = this.#victims;
    await redis.command('SAVE');
    await this.#pause();
    await this.#during('Redis set back', this.#all, 'all', async () => {
      await redis.kill();
      await redis.run();
    });
    await redis.dropSaved();
  }

  #freezeRedis(): Promise<void> {
    const { redis } = this.#victims;
    return this.#during('Redis frozen', this.#all, 'none', async () => {
      redis.freeze();
      await this.#pause();
      redis.thaw();
    });
  }

  #fill(): Promise<void> {
    const { redis } = this.#victims;
    return this.#during('Redis full', this.#all, 'none', async () => {
      await redis.command('CONFIG', 'SET', 'maxmemory', '1');
      await this.#pause();
      await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    });
  }

  #unsubscribe(): Promise<void> {
    return this.#during('subscriptions killed', this.#all, 'subscription', () =>
      this.#victims.redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub'),
    );
  }

  #freezeInstance(): Promise<void> {
    const instances = [Math.floor(this.#random.between(0, this.#all.length))];
    const frozen = instances.map((place) => this.#victims.instances[place]);
    const work = async (): Promise<void> => {
      for (const instance of frozen) instance?.signal('SIGSTOP');
      await delay(this.#random.between(200, 2_500));
      for (const instance of frozen) instance?.signal('SIGCONT');
    };
    return this.#during('instance frozen', instances, 'none', work, true);
  }
}
