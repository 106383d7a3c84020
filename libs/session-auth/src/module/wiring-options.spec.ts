import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { type ClientParts, clientPartsOf } from './wiring.js';

const OPTIONS = { baseUrl: 'https://sessions.example.com', apiKey: 'key' };

/** The connection of an authority with this name. */
function start(options: object, name = 'default'): Promise<ClientParts> {
  return clientPartsOf({ ...OPTIONS, ...options }, { name }, new ModulesContainer());
}

describe('the options of an authority', () => {
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

  it('are validated, and named after the authority', async () => {
    expect((await start({ timeoutMs: 70 })).settings).toMatchObject({
      authority: 'default',
      timeoutMs: 70,
    });
    expect((await start({}, 'partners')).settings).toMatchObject({
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

  it('make a log, and a reader of records that writes to it', async () => {
    const { causes, readUser } = await start({}, 'partners');
    expect(readUser({ username: 'ann' })).toMatchObject({ username: 'ann' });
    expect(readUser({})).toBeUndefined();
    causes.occurred('no authority');
    expect(lines).toEqual([
      expect.stringMatching(/^partners: invalid user record/),
      expect.stringMatching(/^partners: no authority/),
    ]);
  });
});
