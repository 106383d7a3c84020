import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type INestApplication } from '@nestjs/common';
import { ServedApp } from './served-app.js';
import { Turns } from './turns.js';

const DRAIN_MS = 5_000;

/**
 * An application that starts anew when its settings change: what reads its options once, at bootstrap, gets them so. Requests go to the new
 * one as soon as it can answer; the old one finishes what it has begun.
 */
export class RestartableApp<Settings> {
  readonly #create: (settings: Settings) => Promise<INestApplication>;
  readonly #leaving = new Set<Promise<void>>();
  readonly #changes = new Turns();
  #current: ServedApp;
  #settings: Settings;

  private constructor(create: (settings: Settings) => Promise<INestApplication>, first: INestApplication, settings: Settings) {
    this.#create = create;
    this.#current = new ServedApp(first);
    this.#settings = settings;
  }

  static async start<Settings>(
    create: (settings: Settings) => Promise<INestApplication>,
    settings: Settings,
  ): Promise<RestartableApp<Settings>> {
    return new RestartableApp(create, await create(settings), settings);
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#current.handle(request, response);
  }

  /** The application of now. */
  get app(): INestApplication {
    return this.#current.app;
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** Starts anew with other settings; one change after the other. */
  restart(settings: Settings): Promise<void> {
    return this.#changes.take(() => this.#replace(settings));
  }

  async close(): Promise<void> {
    await this.#changes.over();
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
