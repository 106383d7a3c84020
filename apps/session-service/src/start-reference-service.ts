import { type Server } from 'node:http';
import { Logger, type NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { type Kysely } from 'kysely';
import { adviceForProduction, hasDemoAccounts } from './database/first-start-advice.js';
import { openDatabase } from './database/open-database.js';
import { type Schema } from './database/schema.js';
import { seedDemoAccounts } from './database/seed-demo-accounts.js';
import { configureApplication } from './http/configure-application.js';
import { listen } from './http/listen.js';
import { Argon2PasswordHashing } from './passwords/password-hashing.js';
import { type ReferenceServiceOptions } from './reference-service-options.js';
import { SessionServiceModule } from './session-service.module.js';
import { Sessions } from './sessions/sessions.js';
import { exposedDemoAccounts, type ServiceSettings, settingsFrom } from './service-settings.js';

const CLOSE_DEADLINE_MS = 5000;

/** A running service. */
export interface ReferenceService {
  /** Base URL, without a trailing slash: `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Address and port that it is bound to: `0.0.0.0:41234`. */
  readonly address: string;
  /** Ends every session of every user. Resolves to their number. */
  endAllSessions(): Promise<number>;
  /** Completes open requests, then closes the port and the database. Can be called repeatedly. */
  close(): Promise<void>;
}

/**
 * Starts the User Session Service in this process.
 *
 * @example
 * ```ts
 * const service = await startReferenceService();
 * await fetch(`${service.url}/authentication`, { method: 'POST', headers: { 'X-API-KEY': 'demo-api-key' } });
 * await service.close();
 * ```
 * @throws StartError with one sentence if an option is invalid, the port is in use or the database cannot be
 * opened
 */
export async function startReferenceService(
  options: ReferenceServiceOptions = {},
): Promise<ReferenceService> {
  const production = process.env.NODE_ENV === 'production';
  const settings = settingsFrom(options, production);
  const database = await openDatabase(settings.database);
  try {
    const hashing = new Argon2PasswordHashing();
    if (!settings.allowsDemoAccounts && (await hasDemoAccounts(database, hashing)))
      throw exposedDemoAccounts(settings.host);
    if (settings.seed) await seedDemoAccounts(database, hashing);
    const app = await createApplication(database, settings, options.logger);
    const advice = production ? await adviceForProduction(database) : undefined;
    if (advice !== undefined) new Logger('SessionService').warn(advice);
    return await openPort(app, database, settings);
  } catch (error) {
    await database.destroy();
    throw error;
  }
}

async function createApplication(
  database: Kysely<Schema>,
  { limits, signInLimits }: ServiceSettings,
  logger: ReferenceServiceOptions['logger'],
): Promise<NestExpressApplication> {
  const options: Pick<NestApplicationOptions, 'abortOnError' | 'bodyParser' | 'logger'> = {
    abortOnError: false,
    bodyParser: false,
  };
  if (logger !== undefined) options.logger = logger;
  const app = await NestFactory.create<NestExpressApplication>(
    SessionServiceModule.over(database, limits, signInLimits),
    options,
  );
  configureApplication(app);
  await app.init();
  return app;
}

async function openPort(
  app: NestExpressApplication,
  database: Kysely<Schema>,
  { port, host }: ServiceSettings,
): Promise<ReferenceService> {
  const server: Server = app.getHttpServer();
  try {
    const { url, address } = await listen(server, port, host);
    let closed: Promise<void> | undefined;
    return {
      url,
      address,
      endAllSessions: () => app.get(Sessions, { strict: false }).endAll(),
      close: () => (closed ??= closeAll(app, server, database)),
    };
  } catch (error) {
    await app.close();
    throw error;
  }
}

async function closeAll(
  app: NestExpressApplication,
  server: Server,
  database: Kysely<Schema>,
): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), CLOSE_DEADLINE_MS);
  await app.close();
  clearTimeout(deadline);
  await database.destroy();
}
