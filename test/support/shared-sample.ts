import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { EXPRESS, startApp, type Platform, type RunningApp } from './platforms.js';
import { sampleApp, type SampleApp } from './sample-app.js';
import { startScriptedService, type ScriptedService } from './scripted-service.js';

/** An application and its session service, usable inside tests. */
export interface SharedSample {
  readonly service: ScriptedService;
  readonly app: RunningApp;
}

/**
 * One application and one session service for all tests of a `describe`, where no test depends on the state
 * that an earlier one left: starting an application takes longer than most tests. The list of requests is
 * empty at the start of each test; scripts and sessions stay. Set `breaker: false` if the scripts fail.
 */
export function sharedSample(sample: Omit<SampleApp, 'baseUrl'>, platform: Platform = EXPRESS): SharedSample {
  let service: ScriptedService;
  let app: RunningApp;
  beforeAll(async () => {
    service = await startScriptedService();
    app = await startApp(platform, sampleApp({ baseUrl: service.url, ...sample }));
  });
  beforeEach(() => void service.requests.splice(0));
  afterAll(async () => {
    await app.close();
    await service.close();
  });
  return {
    get service() {
      return service;
    },
    get app() {
      return app;
    },
  };
}
