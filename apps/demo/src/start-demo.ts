import { type Server } from 'node:http';
import { type INestApplication, ValidationPipe } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { DemoModule } from './demo.module.js';
import { serveDocs } from './docs/serve-docs.js';
import { connectSessionService } from './session-service/connect-session-service.js';
import { type ConnectedSessionService } from './session-service/connected-session-service.js';
import { type DemoUser } from './session-service/demo-user.js';
import { readListenSettings } from './settings/listen-settings.js';
import { readSessionServiceSettings } from './settings/session-service-settings.js';

const DRAIN_MS = 5_000;

/** How to start the demo, where it differs from what the environment says. */
export interface StartDemoOptions {
  /** 0: any free port. */
  readonly port?: number;
  readonly host?: string;
  /** @default process.env */
  readonly env?: NodeJS.ProcessEnv;
  /** @default an Express adapter */
  readonly adapter?: AbstractHttpAdapter;
}

/** A demo that listens. */
export interface RunningDemo {
  readonly url: string;
  /** Users to try; empty unless the session service is the embedded one. */
  readonly users: readonly DemoUser[];
  /** Lets replies under way finish, for five seconds at most, then stops the embedded session service as well; once, however often called. */
  close(): Promise<void>;
}

/** Starts the demo, with a session service of its own unless the environment names one. */
export async function startDemo(options: StartDemoOptions = {}): Promise<RunningDemo> {
  const env = options.env ?? process.env;
  const { port, host } = { ...readListenSettings(env), ...options };
  const service = await connectSessionService(readSessionServiceSettings(env));
  try {
    const app = await createApp(service, options.adapter ?? new ExpressAdapter());
    const url = await listen(app, port, host);
    let closed: Promise<void> | undefined;
    return { url, users: service.users, close: () => (closed ??= drain(app).finally(() => service.close())) };
  } catch (error) {
    await service.close();
    throw error;
  }
}

async function createApp(service: ConnectedSessionService, adapter: AbstractHttpAdapter): Promise<INestApplication> {
  const config = { SESSION_SERVICE_URL: service.url, SESSION_SERVICE_API_KEY: service.apiKey, DEMO_USERS: service.users };
  const app = await NestFactory.create(DemoModule.with(config), adapter, {
    // No errors until it has started: those are thrown, and telling them twice would bury the one line that helps.
    logger: ['warn', 'fatal'],
    abortOnError: false,
  });
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }));
  serveDocs(app);
  return app;
}

async function listen(app: INestApplication, port: number, host: string): Promise<string> {
  try {
    await app.listen(port, host);
  } catch (error) {
    await app.close();
    throw error;
  }
  app.useLogger(['warn', 'error', 'fatal']);
  return app.getUrl();
}

async function drain(app: INestApplication): Promise<void> {
  const server = app.getHttpServer() as Server;
  const patience = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await app.close().finally(() => clearTimeout(patience));
}
