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

/** Load on the demo by the demo: one run at a time, and each has an end. */
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

  get isRunning(): boolean {
    return this.#stop !== undefined;
  }

  /** Ends the run, if there is one. */
  stop(): void {
    this.#stop?.();
  }

  /** All requests at once. */
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

  /** Sends a fixed rate of requests, until its time is over or it is stopped: in the session of this token, and in a few others. */
  steady(origin: string, token: string): void {
    const driver = new LoadDriver(origin, STEADY_AT_ONCE);
    const tokens = [token];
    void this.parts.mischief?.openSessions(OTHER_SESSIONS).then((others) => tokens.push(...others));
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

  /** Gives what ends this run, and never the next one. */
  #started(end: () => void): () => void {
    const stop = (): void => {
      if (this.#stop === stop) this.#stop = undefined;
      end();
    };
    this.#stop = stop;
    return stop;
  }
}
