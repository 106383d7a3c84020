import { afterEach } from '@jest/globals';
import type { DynamicModule, INestApplicationContext, LoggerService, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionAuthService } from 'nestjs-session-auth';
import { EXPRESS, startApp, type AppSetup, type Platform, type RunningApp } from './platforms.js';
import { sampleApp, type SampleApp } from './sample-app.js';
import {
  startScriptedService,
  type Script,
  type ScriptedService,
  type SessionServiceOptions,
} from './scripted-service.js';

interface Closable {
  close(): Promise<void>;
}

/** Starts the parts of a test, and closes them after it. */
export interface Testbed {
  service(options?: SessionServiceOptions): Promise<ScriptedService>;
  /** A service that answers every request with one script. */
  serviceThat(script: Script): Promise<ScriptedService>;
  app(root: Type | DynamicModule, setup?: AppSetup): Promise<RunningApp>;
  /** The service class of an application that listens nowhere. */
  sessions(sample: SampleApp, logger?: LoggerService): Promise<SessionAuthService>;
  /** An application with the session check in it. */
  sample(sample: SampleApp, setup?: AppSetup): Promise<RunningApp>;
}

async function startContext(
  sample: SampleApp,
  logger: LoggerService | undefined,
): Promise<INestApplicationContext> {
  const root = sampleApp({ controllers: [], ...sample });
  return NestFactory.createApplicationContext(root, { logger: logger ?? false, abortOnError: false });
}

/** Call it inside `describe`. Applications are closed before the services that they speak to. */
export function testbed(platform: Platform = EXPRESS): Testbed {
  const started: Closable[] = [];
  afterEach(async () => {
    for (const closable of started.splice(0).reverse()) await closable.close();
  });
  const keep = <Started extends Closable>(closable: Started): Started => {
    started.push(closable);
    return closable;
  };
  return {
    service: async (options) => keep(await startScriptedService(options)),
    serviceThat: async (script) => {
      const service = keep(await startScriptedService());
      for (const operation of ['user_details', 'sign_in', 'sign_out'] as const) service.on(operation, script);
      return service;
    },
    sessions: async (sample, logger) => keep(await startContext(sample, logger)).get(SessionAuthService),
    app: async (root, setup) => keep(await startApp(platform, root, setup)),
    sample: async (sample, setup) => keep(await startApp(platform, sampleApp(sample), setup)),
  };
}
