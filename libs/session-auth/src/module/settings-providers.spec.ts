import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import type { ReadUser } from '../client/user-details-verdict.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { registrationProvider } from './authorities/registration.js';
import { WarningLog } from './events/warning-log.js';
import { MODULE_OPTIONS_TOKEN } from './module-definition.js';
import { SETTINGS_PROVIDERS } from './settings-providers.js';
import { SETTINGS } from './settings/settings.js';
import { USER_READER } from './settings/user-reader.js';

const OPTIONS = { baseUrl: 'https://sessions.example.com', apiKey: 'key' };

/** Starts a module with the providers of the settings, as a registration with this name has them. */
async function start(options: object, name?: string): Promise<TestingModule> {
  const registration = registrationProvider({
    isForWholeApplication: true,
    ...(name !== undefined && { name }),
  });
  const providers = [
    ...SETTINGS_PROVIDERS,
    registration,
    { provide: MODULE_OPTIONS_TOKEN, useValue: { ...OPTIONS, ...options } },
  ];
  return Test.createTestingModule({ providers })
    .setLogger(false as never)
    .compile();
}

describe('the providers of the settings', () => {
  const environment = process.env.NODE_ENV;
  let lines: unknown[];

  beforeEach(() => {
    lines = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void lines.push(line));
  });

  afterEach(() => {
    process.env.NODE_ENV = environment;
    jest.restoreAllMocks();
  });

  it('provide the validated options, with the name of the registration', async () => {
    expect((await start({ timeoutMs: 70 })).get(SETTINGS)).toMatchObject({
      authority: 'default',
      timeoutMs: 70,
    });
    expect((await start({}, 'partners')).get(SETTINGS)).toMatchObject({
      authority: 'partners',
      timeoutMs: 3_000,
    });
  });

  it.each([
    ['default', 'SessionAuthModule: '],
    ['partners', "SessionAuthModule 'partners': "],
  ])('stop the application %s if an option is invalid', async (name, prefix) => {
    await expect(start({ timeoutMs: 0 }, name)).rejects.toThrow(`${prefix}timeoutMs must be an integer`);
    await expect(start({ identityFields: ['nick'] }, name)).rejects.toThrow(
      `${prefix}identityFields names 'nick'`,
    );
  });

  it.each([
    ['production', 'http://sessions.example.com', 1],
    ['production', 'https://sessions.example.com', 0],
    ['production', 'http://127.0.0.1:3000', 0],
    ['development', 'http://sessions.example.com', 0],
    [undefined, 'http://sessions.example.com', 0],
  ])(
    'warn of keys and tokens in plain text in %s if the service is at %s: %d lines',
    async (mode, baseUrl, count) => {
      if (mode === undefined) delete process.env.NODE_ENV;
      else process.env.NODE_ENV = mode;
      await start({ baseUrl }, 'partners');
      expect(lines).toEqual(Array(count).fill(expect.stringMatching(/^partners: plain text: baseUrl/)));
    },
  );

  it('provide a log, and a reader of records that writes to it', async () => {
    const module = await start({}, 'partners');
    const read = module.get<ReadUser<UserRecord>>(USER_READER);
    expect(read({ username: 'ann' })).toMatchObject({ username: 'ann' });
    expect(read({})).toBeUndefined();
    module.get(WarningLog).noAuthority();
    expect(lines).toEqual([
      expect.stringMatching(/^partners: invalid user record/),
      expect.stringMatching(/^partners: no authority/),
    ]);
  });
});
