import { type INestApplication } from '@nestjs/common';
import { type AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { type CacheChoice, NO_CACHE } from './backend/cache-choice.js';
import { cacheOptionsOf } from './backend/cache-options.js';
import { createBackend } from './backend/create-backend.js';
import { ConsoleModule } from './console/console.module.js';
import { AllowedHosts } from './serving/allowed-hosts.js';
import { createApp } from './serving/create-app.js';
import { FrontDoor } from './serving/front-door.js';
import { RestartableApp } from './serving/restartable-app.js';
import { ServedApp } from './serving/served-app.js';
import { connectSessionService } from './session-service/connect-session-service.js';
import { type ConnectedSessionService } from './session-service/connected-session-service.js';
import { type DemoUser } from './session-service/demo-user.js';
import { readAllowedHosts } from './settings/allowed-hosts-settings.js';
import { readListenSettings } from './settings/listen-settings.js';
import { readSessionServiceSettings } from './settings/session-service-settings.js';

/** How to start the demo, where it differs from what the environment says. */
export interface StartDemoOptions {
  /** 0: any free port. */
  readonly port?: number;
  readonly host?: string;
  /** @default process.env */
  readonly env?: NodeJS.ProcessEnv;
  /** Makes an adapter for each application. @default Express */
  readonly newAdapter?: () => AbstractHttpAdapter;
}

/** A demo that listens. */
export interface RunningDemo {
  readonly url: string;
  /** Users to try; empty unless the session service is the embedded one. */
  readonly users: readonly DemoUser[];
  /** Lets replies under way finish, for five seconds at most, then stops the embedded session service as well; once, however often called. */
  close(): Promise<void>;
}

/** Starts the demo, with a session service of its own unless the environment names one: the backend, and the console that looks at it. */
export async function startDemo(options: StartDemoOptions = {}): Promise<RunningDemo> {
  const env = options.env ?? process.env;
  const { port, host } = { ...readListenSettings(env), ...options };
  const allowedHosts = new AllowedHosts(readAllowedHosts(env, host));
  const closing = new Closing();
  try {
    const service = await connectSessionService(readSessionServiceSettings(env));
    closing.add(() => service.close());
    const { backend, theConsole } = await createApplications(service, options.newAdapter ?? (() => new ExpressAdapter()), closing);
    const door = new FrontDoor(backend, new ServedApp(theConsole), allowedHosts);
    // The console's streams never end by themselves.
    closing.add(() => Promise.all([door.close(), theConsole.close()]));
    const url = await door.open(port, host);
    return { url, users: service.users, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}

interface Applications {
  readonly backend: RestartableApp<CacheChoice>;
  readonly theConsole: INestApplication;
}

async function createApplications(
  service: ConnectedSessionService,
  newAdapter: () => AbstractHttpAdapter,
  closing: Closing,
): Promise<Applications> {
  const { url: SESSION_SERVICE_URL, apiKey: SESSION_SERVICE_API_KEY, users, mischief } = service;
  const create = (cache: CacheChoice): Promise<INestApplication> =>
    createBackend({ SESSION_SERVICE_URL, SESSION_SERVICE_API_KEY, SESSION_CACHE: cacheOptionsOf(cache) }, newAdapter());
  const backend = await RestartableApp.start(create, NO_CACHE);
  closing.add(() => backend.close());
  const adapter = newAdapter();
  const info = { users, controls: mischief !== undefined, platform: adapter.getType() as 'express' | 'fastify' };
  const theConsole = await createApp(ConsoleModule.over({ backend, info, ...(mischief && { mischief }) }), adapter);
  return { backend, theConsole };
}

/** What has started ends in the opposite order, once; what can't end well keeps nothing else from ending. */
class Closing {
  readonly #steps: (() => Promise<unknown>)[] = [];
  #closed: Promise<void> | undefined;

  add(step: () => Promise<unknown>): void {
    this.#steps.unshift(step);
  }

  close(): Promise<void> {
    this.#closed ??= this.#run();
    return this.#closed;
  }

  async #run(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps) await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }
}
