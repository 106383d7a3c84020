import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { optionsFromEnvironment } from './environment.js';
import { settingsFrom } from './service-settings.js';

describe('the settings of a service that runs alone', () => {
  const settingsOf = (environment: NodeJS.ProcessEnv): ReturnType<typeof settingsFrom> =>
    settingsFrom(optionsFromEnvironment(environment), false);

  it('come from the environment, or are defaults', () => {
    const [loopback, dataDir] = ['127.0.0.1', resolve('data')];
    expect(settingsOf({})).toMatchObject({ port: 3100, host: loopback, database: { dataDir }, seed: true });
    const environment = {
      PORT: '8080',
      HOST: '::1',
      DATA_DIR: '/srv/sessions',
      SESSION_LIFETIME_MS: '60000',
    };
    expect(settingsOf(environment)).toMatchObject({
      port: 8080,
      host: '::1',
      database: { dataDir: resolve('/srv/sessions') },
      limits: { lifetimeMs: 60_000 },
    });
  });

  it('limit failed sign-ins, as the environment says or by default', () => {
    expect(settingsOf({}).signInLimits).toEqual({
      maxFailures: 10,
      maxFailuresPerCaller: 500,
      maxFailuresPerAccount: 100,
      windowMs: 900_000,
      maxEntries: 50_000,
    });
    const environment = {
      SIGN_IN_MAX_FAILURES: '5',
      SIGN_IN_MAX_FAILURES_PER_CALLER: '50',
      SIGN_IN_MAX_FAILURES_PER_ACCOUNT: '20',
      SIGN_IN_WINDOW_MS: '60000',
    };
    const limits = { maxFailures: 5, maxFailuresPerCaller: 50, maxFailuresPerAccount: 20, windowMs: 60_000 };
    expect(settingsOf(environment).signInLimits).toMatchObject(limits);
  });

  it.each([
    [{ PORT: '65536' }, 'port'],
    [{ SESSION_LIFETIME_MS: '0' }, 'session lifetime'],
    [{ SIGN_IN_MAX_FAILURES_PER_CALLER: 'many' }, 'failed sign-ins per caller'],
  ])('are refused as %j, and the message names the wrong setting', (environment, name) => {
    expect(() => settingsOf(environment)).toThrow(name);
  });

  it.each(['0.0.0.0', 'localhost.'])(
    'are refused with the demo accounts on HOST=%s, unless they are exposed',
    (HOST) => {
      expect(() => settingsOf({ HOST })).toThrow(`${HOST} is reachable from other machines`);
      expect(settingsOf({ HOST, EXPOSE_DEMO_ACCOUNTS: 'true' }).seed).toBe(true);
    },
  );
});

describe('the settings of an embedded service', () => {
  it('are a free port and a database in memory', () => {
    const database = { databaseUrl: undefined, dataDir: undefined };
    expect(settingsFrom({}, false)).toMatchObject({ port: 0, database });
  });

  it('never add demo accounts in production', () => {
    expect(settingsFrom({}, true).seed).toBe(false);
    expect(() => settingsFrom({ seed: true }, true)).toThrow('demo accounts');
  });
});
