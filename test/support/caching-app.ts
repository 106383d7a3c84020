import { SessionAuthService, type SessionAuthCacheOptions } from 'nestjs-session-auth';
import type { RunningApp } from './platforms.js';
import type { SampleApp } from './sample-app.js';
import { hold, type HeldScript, type Script, type ScriptedService } from './scripted-service.js';
import type { Testbed } from './testbed.js';

/**
 * An application that caches sessions for ten seconds and refusals for two, and its session service. A check
 * makes one call at most.
 */
export interface CachingApp {
  readonly service: ScriptedService;
  readonly app: RunningApp;
  readonly sessions: SessionAuthService;
  /** Calls to user_details so far. */
  readonly calls: () => number;
  readonly status: (path: string, token?: string, headers?: Record<string, string>) => Promise<number>;
  /** Makes user_details hold its answers back from now on. */
  readonly holdBack: (answer: Script) => HeldScript;
}

/** Starts a {@link CachingApp}; `cache` and `sample` add to it. */
export async function cachingApp(
  bed: Testbed,
  cache: Partial<SessionAuthCacheOptions> = {},
  sample: Partial<SampleApp> = {},
): Promise<CachingApp> {
  const service = await bed.service();
  const options = {
    cache: { ttlMs: 10_000, negativeTtlMs: 2_000, ...cache },
    retry: false,
    ...sample.options,
  } as const;
  const app = await bed.sample({ baseUrl: service.url, ...sample, options });
  return {
    service,
    app,
    sessions: app.app.get(SessionAuthService),
    calls: () => service.callsTo('user_details'),
    status: async (path, token, headers) => (await app.get(path, token, headers)).status,
    holdBack: (answer) => {
      const held = hold(answer);
      service.on('user_details', held.script);
      return held;
    },
  };
}

/** Returns the reason that a promise rejects with, or `undefined` when it resolves. */
export function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
