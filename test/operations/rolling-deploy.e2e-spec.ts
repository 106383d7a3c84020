import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { json, startSessionService } from 'nestjs-session-auth/testing';
import { compileDrainProgram, startDrainingApp, type DrainingApp } from '../module/draining-app.js';
import { platforms } from '../support/platforms.js';
import type { CompiledProgram } from '../support/program.js';
import { until } from '../support/until.js';
import { Balancer } from './balancer.js';

const CALLERS = 4;
/** Between the requests of a caller: a busier load finds no more, and slows down the instances that start. */
const PAUSE_MS = 40;
const TEST_MS = 180_000;

/** Callers that send requests all the time, and their replies. */
class Load {
  readonly statuses: Record<number, number> = {};
  readonly #served = new Map<string, number>();
  readonly #callers: Promise<void>[];
  #stopped = false;

  constructor(url: string) {
    this.#callers = Array.from({ length: CALLERS }, (_, index) => this.#ask(url, index));
  }

  servedBy({ url }: DrainingApp): number {
    return this.#served.get(url) ?? 0;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#callers);
  }

  async #ask(url: string, caller: number): Promise<void> {
    for (let turn = 0; !this.#stopped; turn += 1) {
      const token = turn % 2 ? `token-${caller}` : `token-${caller}-${turn}`;
      const reply = await fetch(`${url}/me`, { headers: { 'x-auth-token': token } });
      const instance = reply.headers.get('x-instance') ?? '';
      await reply.text();
      this.statuses[reply.status] = (this.statuses[reply.status] ?? 0) + 1;
      this.#served.set(instance, (this.#served.get(instance) ?? 0) + 1);
      await setTimeout(PAUSE_MS);
    }
  }
}

const ON = platforms('Fastify').map(([name]) => [name] as const);

describe.each(ON)('a rolling deploy on %s', (platform) => {
  let program: CompiledProgram;
  beforeAll(async () => {
    program = await compileDrainProgram();
  });
  afterAll(() => program.remove());

  it(
    'of two instances under load loses no request',
    async () => {
      const [service, balancer] = [await startSessionService(), await Balancer.start()];
      service.on('user_details', json({ username: 'ann' }));
      const apps: DrainingApp[] = [];
      const start = async (): Promise<DrainingApp> => {
        const settings = {
          platform,
          baseUrl: service.url,
          drain: 'terminus',
          drainMs: 2_000,
          hooks: true,
          redisPort: undefined,
        } as const;
        const app = await startDrainingApp(program, {
          ...settings,
          options: { timeoutMs: 20_000, cache: { ttlMs: 60_000 } },
        });
        apps.push(app);
        balancer.add(app.url);
        await until('an instance that is ready', () => balancer.isReady(app.url));
        return app;
      };
      const loads: Load[] = [];
      try {
        const former = [await start(), await start()];
        const load = new Load(balancer.url);
        loads.push(load);
        for (const leaving of former) {
          await until('requests to the instance that will leave', () => load.servedBy(leaving) > 20);
          const next = await start();
          await leaving.terminate();
          await leaving.exit;
          await until('requests to the instance that came', () => load.servedBy(next) > 20);
        }
      } finally {
        await Promise.allSettled(loads.map((load) => load.stop()));
        for (const app of apps) app.kill();
        await balancer.close();
        await service.close();
      }
      await Promise.all(loads.map((load) => load.stop()));
      expect(loads.map(({ statuses }) => Object.keys(statuses))).toEqual([['200']]);
    },
    TEST_MS,
  );
});
