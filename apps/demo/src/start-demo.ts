import { type INestApplication } from '@nestjs/common';
import { type AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { type CacheChoice, NO_CACHE } from './backend/cache-choice.js';
import { cacheOptionsOf } from './backend/cache-options.js';
import { createBackend } from './backend/create-backend.js';
import { ConsoleModule } from './console/console.module.js';
import { RequestTracer } from './console/live/request-tracer.js';
import { AllowedHosts } from './serving/allowed-hosts.js';
import { createApp } from './serving/create-app.js';
import { DemoServer } from './serving/demo-server.js';
import { RestartableApp } from './serving/restartable-app.js';
import { ServedApp } from './serving/served-app.js';
import { connectSessionService } from './session-service/connect-session-service.js';
import { type ConnectedSessionService } from './session-service/connected-session-service.js';
import { type DemoUser } from './session-service/demo-user.js';
import { readAllowedHosts } from './settings/allowed-hosts-settings.js';
import { readListenSettings } from './settings/listen-settings.js';
import { readSessionServiceSettings } from './settings/session-service-settings.js';

/** Creates the HTTP adapter of an application of the demo. */
type NewAdapter = () => AbstractHttpAdapter | Promise<AbstractHttpAdapter>;

/** Options of the demo, which take precedence over the environment. */
export interface StartDemoOptions {
  /** 0: any free port. */
  readonly port?: number;
  readonly host?: string;
  /** @default process.env */
  readonly env?: NodeJS.ProcessEnv;
  /** Creates the HTTP adapter of each application. @default Express */
  readonly newAdapter?: NewAdapter;
}

/** A running demo. */
export interface RunningDemo {
  readonly url: string;
  /** Users to sign in as; empty for a remote session service. */
  readonly users: readonly DemoUser[];
  /**
   * Completes open requests, for five seconds at most, then stops the embedded session service. Can be called
   * repeatedly.
   */
  close(): Promise<void>;
}

/**
 * Starts the backend, the console that observes it and, unless the environment names another, the embedded
 * session service.
 */
export async function startDemo(options: StartDemoOptions = {}): Promise<RunningDemo> {
  const env = options.env ?? process.env;
  const { port, host } = { ...readListenSettings(env), ...options };
  const allowedHosts = new AllowedHosts(readAllowedHosts(env, host));
  const closing = new Closing();
  try {
    const service = await connectSessionService(readSessionServiceSettings(env));
    closing.add(() => service.close());
    const { tracer, consoleApp } = await createApplications(
      service,
      options.newAdapter ?? (() => new ExpressAdapter()),
      closing,
    );
    const server = new DemoServer(tracer, new ServedApp(consoleApp), allowedHosts);
    // The live streams of the console don't end by themselves.
    closing.add(() => Promise.all([server.close(), consoleApp.close()]));
    const url = await server.open(port, host);
    return { url, users: service.users, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}

interface Applications {
  readonly tracer: RequestTracer;
  readonly consoleApp: INestApplication;
}

async function createApplications(
  service: ConnectedSessionService,
  newAdapter: NewAdapter,
  closing: Closing,
): Promise<Applications> {
  const { url: SESSION_SERVICE_URL, apiKey: SESSION_SERVICE_API_KEY, users, serviceControls } = service;
  const create = async (cache: CacheChoice): Promise<INestApplication> =>
    createBackend(
      { SESSION_SERVICE_URL, SESSION_SERVICE_API_KEY, SESSION_CACHE: cacheOptionsOf(cache) },
      await newAdapter(),
    );
  const backend = await RestartableApp.start(create, NO_CACHE);
  closing.add(() => backend.close());
  const tracer = new RequestTracer(backend);
  closing.add(() => {
    tracer.close();
    return Promise.resolve();
  });
  const adapter = await newAdapter();
  const info = {
    users,
    controls: serviceControls !== undefined,
    platform: adapter.getType() as 'express' | 'fastify',
  };
  const consoleApp = await createApp(
    ConsoleModule.over({ backend, tracer, info, ...(serviceControls && { serviceControls }) }),
    adapter,
  );
  return { tracer, consoleApp };
}

/**
 * Runs the steps of closing once, in reverse order. A step that fails does not stop the others; the first
 * error is thrown at the end.
 */
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
