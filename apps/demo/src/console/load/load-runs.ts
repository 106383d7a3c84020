import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ConsoleParts } from '../console-parts.js';
import { GuardActivity } from '../live/guard-activity.js';
import {
  type LoadResult,
  STAMPEDE_REQUESTS,
  STEADY_REQUESTS_PER_SECOND,
  STEADY_SECONDS,
} from '../messages.js';
import { every } from './every.js';
import { type DrivenReply, LoadDriver } from './load-driver.js';

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
      const replies = await Promise.all(
        Array.from({ length: STAMPEDE_REQUESTS }, () => driver.send({ path: GUARDED, token })),
      );
      const tookMs = Math.round(performance.now() - startedAt);
      return { load: 'stampede', ...countReplies(replies), calls: this.activity.calls - callsBefore, tookMs };
    } finally {
      stop();
    }
  }

  /**
   * Sends requests at a fixed rate until the time is over or the run is stopped, with this token and those of
   * a few other sessions.
   */
  steady(origin: string, token: string): void {
    const driver = new LoadDriver(origin, STEADY_AT_ONCE);
    const tokens = [token];
    void this.parts.serviceControls?.openSessions(OTHER_SESSIONS).then((others) => tokens.push(...others));
    let left = STEADY_REQUESTS_PER_SECOND * STEADY_SECONDS;
    const halt = every(STEADY_REQUESTS_PER_SECOND, (turn) => {
      void driver.send({ path: GUARDED, token: tokens[turn % tokens.length] ?? token });
      left -= 1;
      if (left === 0) stop();
    });
    const stop = this.#started(() => {
      halt();
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

function countReplies(replies: readonly (DrivenReply | undefined)[]): Pick<LoadResult, 'statuses' | 'lost'> {
  const statuses: Record<string, number> = {};
  let lost = 0;
  for (const reply of replies) {
    if (reply) statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
    else lost += 1;
  }
  return { statuses, lost };
}
