import { beforeAll } from '@jest/globals';
import { SessionAuthService, SessionHttpService } from 'nestjs-session-auth';
import type { AxiosInstance } from 'axios';
import type { Platform, RunningApp } from '../support/platforms.js';
import type { SampleApp } from '../support/sample-app.js';
import {
  json,
  silence,
  type Operation,
  type Script,
  type ScriptedService,
} from '../support/scripted-service.js';
import { sharedSample } from '../support/shared-sample.js';
import type { Testbed } from '../support/testbed.js';

/** An application whose calls to the session service a test can change. */
export interface Seam {
  readonly service: ScriptedService;
  readonly app: RunningApp;
  /** Returns axiosRef. From now on, calls are made through axios. */
  readonly axios: () => AxiosInstance;
  /** Makes each of the three calls once, the check through the guard, and returns their statuses. */
  readonly callAll: () => Promise<number[]>;
}

/** For calls that get no answer. */
export const SHORT_MS = 500;

/** The session and the user of these tests. */
export const ANN = { username: 'ann', auth_token: 'token' };
export const OPERATIONS: readonly Operation[] = ['user_details', 'sign_in', 'sign_out'];

/**
 * Starts a {@link Seam} where all three calls succeed, or are answered by `script`. Each is over in time,
 * which is short where nothing will come.
 */
export async function seam(
  bed: Testbed,
  http: Http = {},
  script: Script = json(ANN),
  timeoutMs = script === silence ? SHORT_MS : 60_000,
): Promise<Seam> {
  const service = await bed.service();
  answerAll(service, script);
  return seamOf(service, await bed.sample({ baseUrl: service.url, options: optionsOf(http, timeoutMs) }));
}

/** One {@link Seam} for all tests of a `describe`, which `taken` changes before the first of them. */
export function sharedSeam(platform: Platform, http: Http, taken: (seam: Seam) => void): () => Seam {
  const shared = sharedSample({ options: { ...optionsOf(http, 60_000), breaker: false } }, platform);
  let kept: Seam;
  beforeAll(async () => {
    kept = await seamOf(shared.service, shared.app);
    taken(kept);
  });
  return () => kept;
}

/** Has the service answer each of the three calls by a script. */
export function answerAll(service: ScriptedService, script: Script): void {
  for (const operation of OPERATIONS) service.on(operation, script);
}

type Http = NonNullable<NonNullable<SampleApp['options']>['http']>;

function optionsOf(http: Http, timeoutMs: number): NonNullable<SampleApp['options']> {
  const times = { timeoutMs, signInTimeoutMs: timeoutMs, signOutTimeoutMs: timeoutMs };
  return { ...times, retry: false, http };
}

async function seamOf(service: ScriptedService, app: RunningApp): Promise<Seam> {
  const sessions = app.app.get(SessionAuthService);
  const calls = await app.app.resolve(SessionHttpService);
  return {
    service,
    app,
    axios: () => calls.axiosRef,
    callAll: async () => [
      (await app.get('/me', 'token', { 'x-auth-iv': 'iv-1' })).status,
      await statusOf(sessions.signIn({ username: 'ann', password: 'x' }, { authIv: 'iv-1' })),
      await statusOf(sessions.signOut('token', { authIv: 'iv-1' })),
    ],
  };
}

function statusOf(call: Promise<unknown>): Promise<number> {
  return call.then(
    () => 200,
    (error: unknown) => (error as { statusCode: number }).statusCode,
  );
}
