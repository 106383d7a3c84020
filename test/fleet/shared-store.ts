import { afterAll, beforeAll } from '@jest/globals';
import type { Redis } from 'ioredis';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { redisClient, RedisServer } from '../support/redis.js';
import { until } from '../support/until.js';
import { TOKEN } from '../support/trial/canaries.js';
import type { Trial, TrialSetup } from '../support/trial/trial.js';
import { PATIENCE_MS } from './fleet.js';

/** A Redis of the rows of a suite, which their applications reach through a proxy that can break it. */
export class SharedStore {
  readonly #clients: Redis[] = [];
  #server!: RedisServer;
  /** The proxy that the applications use. */
  proxy!: MeddlingProxy;
  /** A client that bypasses the proxy. */
  redis!: Redis;

  /** Call it inside `describe`. */
  static forSuite(): SharedStore {
    const store = new SharedStore();
    beforeAll(() => store.#start());
    afterAll(() => store.#close());
    return store;
  }

  /** Options of an application with its own client, and with long time limits while Redis works. */
  options(ttlMs: number, timeoutMs?: number): NonNullable<TrialSetup['options']> {
    const redis = redisClient(this.proxy.port);
    this.#clients.push(redis);
    return {
      cache: {
        ttlMs,
        store: new RedisSessionStore({ redis, ...(timeoutMs !== undefined && { timeoutMs }) }),
      },
    };
  }

  /**
   * A row with such an application; `begin` breaks Redis before it starts, and afterwards Redis works and is
   * empty.
   */
  row(ttlMs: number, begin?: () => void): TrialSetup {
    const options = (): NonNullable<TrialSetup['options']> => {
      begin?.();
      return this.options(ttlMs, begin ? undefined : PATIENCE_MS);
    };
    return {
      get options() {
        return options();
      },
      recover: () => this.#recover(),
    };
  }

  /**
   * Checks one token after the other until the client of an application, which connects in its own time,
   * keeps a session.
   */
  async connected(trial: Trial, at = trial.app.url): Promise<void> {
    let tokens = 0;
    await until('a session is kept', async () => {
      await trial.status({ at, token: `${TOKEN}-warm-${(tokens += 1)}` });
      return (await this.dump()).some((text) => text.startsWith('V'));
    });
  }

  /** Every key, and every value in two forms. */
  async dump(): Promise<string[]> {
    const keys = await this.redis.keys('*');
    const values = await Promise.all(keys.map((key) => this.redis.getBuffer(key)));
    return [
      ...keys,
      ...values.flatMap((value) => [value?.toString('latin1') ?? '', value?.toString('hex') ?? '']),
    ];
  }

  async #start(): Promise<void> {
    this.#server = await RedisServer.start();
    this.proxy = await MeddlingProxy.to(this.#server.port);
    this.redis = redisClient(this.#server.port);
  }

  async #recover(): Promise<void> {
    this.proxy.restore();
    for (const client of this.#clients.splice(0)) client.disconnect();
    await this.redis.flushall();
  }

  async #close(): Promise<void> {
    this.redis.disconnect();
    await this.proxy.close();
    await this.#server.close();
  }
}
