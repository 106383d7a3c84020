import { SessionAuthService, type SessionAuthExtras, type SessionAuthOptions } from 'nestjs-session-auth';
import {
  startSessionService,
  type Operation,
  type ScriptedSessionService,
} from 'nestjs-session-auth/testing';
import type { INestApplication, Type } from '@nestjs/common';
import { errorOf } from '../caching-app.js';
import { CapturedLog } from '../captured-log.js';
import { startApp, type Platform, type RunningApp } from '../platforms.js';
import { sendRaw, type RawReply, type RawRequest } from '../raw-request.js';
import { sampleApp } from '../sample-app.js';
import { measureStalls } from '../stalls.js';
import { IV, KEY, TOKEN } from './canaries.js';
import { FaultsController, HandlerRuns } from './faults-app.js';
import { Printed } from './printed.js';

/** The user of every good request. */
export const ANN = { username: 'ann', role: 'hiring_manager', sub_role: 'approver' };
/** Total time of a check, unless a row is about time: long, because speed is not measured. */
const TIMEOUT_MS = 30_000;

/** How the application of a row differs from the others. */
export interface TrialSetup {
  readonly options?: Partial<SessionAuthOptions & SessionAuthExtras>;
  readonly baseUrl?: (serviceUrl: string) => string;
  readonly controllers?: Type[];
  configure?(app: INestApplication): void;
  /** Ends the fault, in addition to a valid answer of user_details. `false`: it does not end. */
  readonly recover?: false | ((trial: Trial) => void | Promise<void>);
}

export interface Ask extends RawRequest {
  /** `null`: none. @default TOKEN */
  readonly token?: string | null;
  /** `null`: none. @default IV */
  readonly iv?: string | null;
  /** Another application than the row's own. */
  readonly at?: string;
}

export interface Answer extends RawReply {
  readonly path: string;
  readonly tookMs: number;
  /** For how long the process of the application and of the test stood still meanwhile. */
  readonly stalledMs: number;
}

interface Closable {
  close(): Promise<void>;
}

/** One row on one platform: the application, the service it asks, and everything that came out of both. */
export class Trial {
  readonly answers: Answer[] = [];
  readonly errors: unknown[] = [];
  /** Requests whose callers disconnected. */
  abandoned = 0;
  /** Whether tokens come in the header of the interface, and not from a function of the row. */
  readonly readsHeader: boolean;
  readonly timeoutMs: number;
  readonly #kept: Closable[];

  private constructor(
    private readonly platform: Platform,
    readonly service: ScriptedSessionService,
    readonly app: RunningApp,
    readonly log: CapturedLog,
    readonly printed: Printed,
    readonly runs: HandlerRuns,
    { timeoutMs, token }: Pick<SessionAuthOptions, 'timeoutMs' | 'token'>,
  ) {
    this.timeoutMs = timeoutMs ?? TIMEOUT_MS;
    this.readsHeader = typeof token !== 'function';
    this.#kept = [service, app];
  }

  static async start(
    platform: Platform,
    { options = {}, controllers = [FaultsController], ...setup }: TrialSetup,
  ): Promise<Trial> {
    const service = await startSessionService();
    const [logger, runs] = [new CapturedLog(), new HandlerRuns()];
    service.signInAs(ANN, TOKEN);
    const settings = { apiKey: KEY, timeoutMs: TIMEOUT_MS, ...options };
    const baseUrl = setup.baseUrl?.(service.url) ?? service.url;
    const providers = [{ provide: HandlerRuns, useValue: runs }];
    const root = sampleApp({ baseUrl, options: settings, controllers, providers });
    const printed = new Printed();
    try {
      const app = await startApp(platform, root, { ...setup, logger });
      return new Trial(platform, service, app, logger, printed, runs, settings);
    } catch (error) {
      printed.restore();
      await service.close();
      throw error;
    }
  }

  get sessions(): SessionAuthService {
    return this.app.app.get(SessionAuthService);
  }

  /** Requests that reached the service. */
  calls(operation: Operation = 'user_details'): number {
    return this.service.callsTo(operation);
  }

  async ask(ask: Ask = {}): Promise<Answer> {
    const { token = TOKEN, iv = IV, lines = [], at = this.app.url, ...request } = ask;
    const tokenLine = token === null ? [] : [`X-AUTH-TOKEN: ${token}`];
    const own = [...tokenLine, ...(iv === null ? [] : [`X-AUTH-IV: ${iv}`])];
    const start = process.hrtime.bigint();
    const stalledMs = measureStalls();
    const reply = await sendRaw(at, { ...request, lines: [...own, ...lines] });
    const tookMs = Number(process.hrtime.bigint() - start) / 1e6;
    const answer = { ...reply, path: request.path ?? '/me', tookMs, stalledMs: stalledMs() };
    this.answers.push(answer);
    return answer;
  }

  async status(ask: Ask = {}): Promise<number> {
    return (await this.ask(ask)).status;
  }

  /** Returns the count of each status from many requests, of which some are always in flight. */
  async flood(count: number, ask: (index: number) => Ask, atOnce = count): Promise<Record<number, number>> {
    const statuses: Record<number, number> = {};
    for (let first = 0; first < count; first += atOnce) {
      const indices = Array.from({ length: Math.min(atOnce, count - first) }, (_, index) => first + index);
      for (const status of await Promise.all(indices.map((index) => this.status(ask(index))))) {
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }
    return statuses;
  }

  /** Records the error of a call of the service class, for the scan. */
  async thrownBy(call: Promise<unknown>): Promise<unknown> {
    const error = await errorOf(call);
    if (error !== undefined) this.errors.push(error);
    return error;
  }

  async another(): Promise<ScriptedSessionService> {
    return this.keep(await startSessionService());
  }

  /** A second application, with options of its own. */
  async keepApp(
    options: NonNullable<TrialSetup['options']>,
    baseUrl = this.service.url,
  ): Promise<RunningApp> {
    const providers = [{ provide: HandlerRuns, useValue: this.runs }];
    const settings = { apiKey: KEY, ...options };
    const root = sampleApp({ baseUrl, options: settings, controllers: [FaultsController], providers });
    return this.keep(await startApp(this.platform, root, { logger: this.log }));
  }

  /** Closes something when the row is over. */
  keep<Kept extends Closable>(kept: Kept): Kept {
    this.#kept.push(kept);
    return kept;
  }

  async close(): Promise<void> {
    this.printed.restore();
    for (const kept of this.#kept.splice(0).reverse()) await kept.close();
  }
}
