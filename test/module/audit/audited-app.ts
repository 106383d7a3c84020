import type { AddressInfo, Server } from 'node:net';
import type { DynamicModule, INestApplication, INestMicroservice, Provider, Type } from '@nestjs/common';
import { ClientProxyFactory, Transport, type MicroserviceOptions } from '@nestjs/microservices';
import { firstValueFrom } from 'rxjs';
import {
  fromHeader,
  fromPayload,
  type SessionAuthExtras,
  type SessionAuthOptions,
} from 'nestjs-session-auth';
import { CapturedLog } from '../../support/captured-log.js';
import { EXPRESS, startApp, type Platform, type RunningApp } from '../../support/platforms.js';
import { sampleApp } from '../../support/sample-app.js';
import type { ScriptedService } from '../../support/scripted-service.js';

/** An application whose handlers report each visit to {@link visit}. */
export interface AuditedApp {
  readonly imports?: DynamicModule[];
  readonly controllers?: Type[];
  readonly providers?: Provider[];
  readonly options?: Partial<SessionAuthOptions & SessionAuthExtras>;
  configure?(app: INestApplication): void;
  /** Calls every handler once, with any result. */
  call(app: RunningApp, token: string | undefined): Promise<unknown>;
}

/** Asks the schema of an application. */
export async function askGraphql(
  { url }: RunningApp,
  token: string | undefined,
  query: string,
): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { 'x-auth-token': token }),
  };
  const body = JSON.stringify({ query });
  await (await fetch(`${url}/graphql`, { method: 'POST', headers, body })).text();
}

/** An application that connects a microservice, and sends it these messages. */
export function hybrid(
  controllers: Type | Type[],
  patterns: readonly string[],
  more: Partial<AuditedApp> = {},
  inherit?: boolean,
): AuditedApp {
  const options = { host: '127.0.0.1', port: 0 };
  let messages: INestMicroservice;
  let started: Promise<unknown> | undefined;
  return {
    controllers: [controllers].flat(),
    ...more,
    configure: (app) => {
      more.configure?.(app);
      messages = app.connectMicroservice<MicroserviceOptions>(
        { transport: Transport.TCP, options },
        inherit === undefined ? {} : { inheritAppConfig: inherit },
      );
    },
    call: async ({ app }, token) => {
      await (started ??= app.startAllMicroservices());
      const { port } = messages.unwrap<Server>().address() as AddressInfo;
      const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { ...options, port } });
      for (const pattern of patterns)
        await firstValueFrom(client.send<unknown>(pattern, { token })).catch(() => undefined);
      client.close();
    },
  };
}

/** The handlers that callers reach, and the findings of the audit. */
export interface Outcome {
  /** Handlers that a caller reaches without meeting their rules. */
  readonly open: string[];
  /** Handlers that a caller reaches who meets all rules. */
  readonly served: string[];
  /** Handlers that the audit names. */
  readonly named: string[];
  /** Whether `audit: 'error'` stops the application. */
  readonly isStopped: boolean;
  /** Present if the default of `audit` stops it too. */
  readonly isStoppedByDefault?: true;
}

const visits = new Set<string>();

/**
 * Notes that a handler was reached. Its name ends in `ForBosses` if it requires that role, otherwise it
 * requires a session.
 */
export function visit(handler: string): string {
  visits.add(handler);
  return handler;
}

/**
 * Starts the application, calls it with no session, with one of another role and with one that meets all;
 * then starts it with `audit: 'error'`. One that the audit stops by default is called with `audit: 'off'`.
 */
export async function outcomeOf(
  create: () => AuditedApp,
  service: ScriptedService,
  platform: Platform = EXPRESS,
): Promise<Outcome> {
  const logger = new CapturedLog();
  const audited = create();
  const started = await start(audited, service.url, platform, { audit: 'warn' }, logger).catch(
    (error: unknown) => error as Error,
  );
  const isStoppedByDefault = started instanceof Error;
  const lines = isStoppedByDefault ? findingsIn(started) : logger.having('warn', 'audit: ');
  const app = isStoppedByDefault
    ? await start(audited, service.url, platform, { audit: 'off' }, new CapturedLog())
    : started;
  try {
    const byStranger = await reached(audited, app, undefined);
    const byClerk = await reached(audited, app, service.signInAs({ role: 'clerk' }, 'clerk'));
    const served = await reached(audited, app, service.signInAs({ role: 'boss' }, 'boss'));
    const open = new Set([...byStranger, ...byClerk.filter((handler) => handler.endsWith('ForBosses'))]);
    const named = lines.map((line) => /^\s*(?:.*audit: )?(\S+)/.exec(line)?.[1] ?? line).sort();
    const isStopped = isStoppedByDefault || (await isStoppedByError(create(), service.url, platform));
    return {
      open: [...open].sort(),
      served,
      named,
      isStopped,
      ...(isStoppedByDefault && { isStoppedByDefault }),
    };
  } finally {
    await app.close();
  }
}

/** The findings in the error that stops an application. Throws any other error. */
function findingsIn(error: Error): string[] {
  const [first, ...lines] = error.message.split('\n');
  if (first !== 'SessionAuthModule: the audit found') throw error;
  return lines.map((line) => line.trim());
}

function start(audited: AuditedApp, baseUrl: string, platform: Platform, audit: object, logger: CapturedLog) {
  const token = [fromHeader('x-auth-token'), fromPayload('token')];
  const root = sampleApp({
    baseUrl,
    controllers: [],
    ...audited,
    options: { token, ...audited.options, ...audit },
  });
  return startApp(platform, root, { logger, configure: (app) => audited.configure?.(app) });
}

async function reached(audited: AuditedApp, app: RunningApp, token: string | undefined): Promise<string[]> {
  visits.clear();
  await audited.call(app, token);
  return [...visits].sort();
}

async function isStoppedByError(audited: AuditedApp, baseUrl: string, platform: Platform): Promise<boolean> {
  const app = await start(audited, baseUrl, platform, { audit: 'error' }, new CapturedLog()).catch(
    (error: unknown) => error as Error,
  );
  if (app instanceof Error) return true;
  await app.close();
  return false;
}
