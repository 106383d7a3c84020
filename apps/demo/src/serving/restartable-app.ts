import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type INestApplication } from '@nestjs/common';
import { ServedApp } from './served-app.js';
import { SerialQueue } from './serial-queue.js';

const DRAIN_MS = 5_000;

/**
 * Restarts an application when its settings change, because the library reads its options once, at startup.
 * New requests go to the new application as soon as it is ready; the old one completes its open requests.
 */
export class RestartableApp<Settings> {
  readonly #create: (settings: Settings) => Promise<INestApplication>;
  readonly #leaving = new Set<Promise<void>>();
  readonly #changes = new SerialQueue();
  #current: ServedApp;
  #settings: Settings;

  private constructor(
    create: (settings: Settings) => Promise<INestApplication>,
    first: INestApplication,
    settings: Settings,
  ) {
    this.#create = create;
    this.#current = new ServedApp(first);
    this.#settings = settings;
  }

  /** Creates the application with its first settings. */
  static async start<Settings>(
    create: (settings: Settings) => Promise<INestApplication>,
    settings: Settings,
  ): Promise<RestartableApp<Settings>> {
    return new RestartableApp(create, await create(settings), settings);
  }

  /** Handles a request with the current application. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#current.handle(request, response);
  }

  /** The current application. */
  get app(): INestApplication {
    return this.#current.app;
  }

  /** The current settings. */
  get settings(): Settings {
    return this.#settings;
  }

  /** Restarts with other settings. Restarts run one after the other. */
  restart(settings: Settings): Promise<void> {
    return this.#changes.run(() => this.#replace(settings));
  }

  /** Completes open requests, for five seconds at most, and closes all applications. */
  async close(): Promise<void> {
    await this.#changes.settled();
    await Promise.all([this.#current.close(DRAIN_MS), ...this.#leaving]);
  }

  async #replace(settings: Settings): Promise<void> {
    const next = new ServedApp(await this.#create(settings));
    const leaving = this.#current.close.bind(this.#current);
    this.#current = next;
    this.#settings = settings;
    const left = leaving(DRAIN_MS).finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }
}
