import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type INestApplication } from '@nestjs/common';
import { SessionAuthEvents, SessionAuthService } from 'nestjs-session-auth';
import { type CacheChoice } from '../console/messages.js';
import { ServedApp } from './served-app.js';

const DRAIN_MS = 5_000;

/** How the demo begins: every request asks the service. */
const NO_MEMORY: CacheChoice = { ttlSeconds: 0, refreshAhead: false, staleIfError: false };

/**
 * The backend, which starts anew when its settings change: the library reads its options once, at bootstrap. Requests go to the new one as
 * soon as it can answer; the old one finishes what it has begun.
 */
export class RestartableBackend {
  readonly #create: (cache: CacheChoice) => Promise<INestApplication>;
  readonly #leaving = new Set<Promise<void>>();
  #current: ServedApp;
  #cache = NO_MEMORY;
  #change: Promise<void> = Promise.resolve();

  private constructor(create: (cache: CacheChoice) => Promise<INestApplication>, first: INestApplication) {
    this.#create = create;
    this.#current = new ServedApp(first);
  }

  static async start(create: (cache: CacheChoice) => Promise<INestApplication>): Promise<RestartableBackend> {
    return new RestartableBackend(create, await create(NO_MEMORY));
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#current.handle(request, response);
  }

  /** How sessions are remembered now. */
  get cache(): CacheChoice {
    return this.#cache;
  }

  get remembered(): number {
    return this.#current.app.get(SessionAuthService).countRemembered();
  }

  get breaker(): 'closed' | 'halfOpen' | 'open' {
    return this.#current.app.get(SessionAuthEvents).serviceStatus.breaker;
  }

  /** Starts anew with another memory, which is empty; one change after the other. */
  restart(cache: CacheChoice): Promise<void> {
    const changed = this.#change.then(() => this.#replace(cache));
    this.#change = changed.catch(() => undefined);
    return changed;
  }

  async close(): Promise<void> {
    await this.#change;
    await Promise.all([this.#current.close(DRAIN_MS), ...this.#leaving]);
  }

  async #replace(cache: CacheChoice): Promise<void> {
    const next = new ServedApp(await this.#create(cache));
    const leaving = this.#current.close.bind(this.#current);
    this.#current = next;
    this.#cache = cache;
    const left = leaving(DRAIN_MS).finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }
}
