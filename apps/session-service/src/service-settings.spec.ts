import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { optionsFromEnvironment } from './environment.js';
import { type ReferenceServiceOptions } from './reference-service-options.js';
import { settingsFrom } from './service-settings.js';

describe('the settings of a service that runs alone', () => {
  const settingsOf = (environment: NodeJS.ProcessEnv): ReturnType<typeof settingsFrom> =>
    settingsFrom(optionsFromEnvironment(environment), false);

  it('have defaults for everything', () => {
    expect(settingsOf({})).toMatchObject({ port: 3100, host: '127.0.0.1', database: { dataDir: resolve('data') }, seed: true });
  });

  it('come from the environment', () => {
    const settings = settingsOf({ PORT: '8080', HOST: '::1', DATA_DIR: '/srv/sessions', SESSION_LIFETIME_MS: '60000' });
    expect(settings).toMatchObject({
      port: 8080,
      host: '::1',
      database: { dataDir: resolve('/srv/sessions') },
      limits: { lifetimeMs: 60_000 },
    });
  });

  it.each([
    [{ PORT: '65536' }, 'port'],
    [{ PORT: '-1' }, 'port'],
    [{ PORT: '' }, 'port'],
    [{ PORT: '3e3' }, 'port'],
    [{ HOST: '' }, 'host'],
    [{ DATA_DIR: ' ' }, 'data directory'],
    [{ SESSION_LIFETIME_MS: '0' }, 'session lifetime'],
    [{ SESSION_LIFETIME_MS: 'forever' }, 'session lifetime'],
  ])('are refused as %j, and the message names what is wrong', (environment, name) => {
    expect(() => settingsOf(environment)).toThrow(name);
  });
});

describe('the settings of an embedded service', () => {
  const settingsOf = (options: ReferenceServiceOptions, production: boolean): ReturnType<typeof settingsFrom> =>
    settingsFrom(options, production);

  it('are a free port and a database in memory', () => {
    expect(settingsOf({}, false)).toMatchObject({ port: 0, database: { databaseUrl: undefined, dataDir: undefined } });
  });

  it('never add demo accounts in production', () => {
    expect(settingsOf({}, true).seed).toBe(false);
    expect(() => settingsOf({ seed: true }, true)).toThrow('demo accounts');
  });
});
