import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ConsoleParts } from '../console-parts.js';
import { GuardActivity } from '../live/guard-activity.js';
import { type LoadResult, STAMPEDE_REQUESTS, STEADY_REQUESTS_PER_SECOND, STEADY_SECONDS } from '../messages.js';
import { LoadDriver } from './load-driver.js';

const GUARDED = '/api/me';
const OPEN = '/api/health';
const STEADY_AT_ONCE = 200;
/** A circuit breaker opens on failures of five different tokens. */
const OTHER_SESSIONS = 5;

/** Runs load on the demo, one run at a time, each of limited length. */
@Injectable()
export class LoadRuns implements OnModuleDestroy {
  #stop: (() => void) | undefined;

  constructor(
    private readonly activity: GuardActivity,
    private readonly parts: ConsoleParts,
  ) {}

  onModuleDestroy(): void {
    this.stop();
  }

  /** Whether a run is in progress. */
  get isRunning(): boolean {
    return this.#stop !== undefined;
  }

  /** Ends the run, if one is in progress. */
  stop(): void {
    this.#stop?.();
  }

  /** Sends all requests at once. Resolves when each has a reply or is lost. */
  async stampede(origin: string, token: string): Promise<LoadResult> {
    const driver = new LoadDriver(origin, STAMPEDE_REQUESTS);
    const stop = this.#started(() => driver.close());
    try {
      await driver.warm(STAMPEDE_REQUESTS, OPEN);
      const callsBefore = this.activity.calls;
      const startedAt = performance.now();
      await Promise.all(Array.from({ length: STAMPEDE_REQUESTS }, () => driver.send(GUARDED, token)));
      const tookMs = Math.round(performance.now() - startedAt);
      return { load: 'stampede', statuses: driver.statuses, lost: driver.lost, calls: this.activity.calls - callsBefore, tookMs };
    } finally {
      stop();
    }
  }

  /** Sends requests at a fixed rate until the time is over or the run is stopped, with this token and those of a few other sessions. */
  steady(origin: string, token: string): void {
    const driver = new LoadDriver(origin, STEADY_AT_ONCE);
    const tokens = [token];
    void this.parts.serviceControls?.openSessions(OTHER_SESSIONS).then((others) => tokens.push(...others));
    let left = STEADY_REQUESTS_PER_SECOND * STEADY_SECONDS;
    const timer = setInterval(() => {
      void driver.send(GUARDED, tokens[left % tokens.length] ?? token);
      left -= 1;
      if (left === 0) stop();
    }, 1_000 / STEADY_REQUESTS_PER_SECOND).unref();
    const stop = this.#started(() => {
      clearInterval(timer);
      driver.close();
    });
  }

  /** Registers a run. Returns a function that ends this run, and never a later one. */
  #started(end: () => void): () => void {
    const stop = (): void => {
      if (this.#stop === stop) this.#stop = undefined;
      end();
    };
    this.#stop = stop;
    return stop;
  }
}
