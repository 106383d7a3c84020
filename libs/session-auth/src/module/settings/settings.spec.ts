import { describe, expect, it } from '@jest/globals';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { UserRecord } from '../../contract/record/user-record.js';
import type { HttpRequest } from '../../guard/http-request.js';
import type { SessionAuthOptions } from '../options/options.js';
import { readSettings } from './settings.js';

const REQUIRED = { baseUrl: 'https://sessions.example.com', apiKey: 'key' };
const KNOWN =
  "'baseUrl', 'apiKey', 'forwardAuthIv', 'timeoutMs', 'signInTimeoutMs', 'signOutTimeoutMs', 'retry', 'breaker', 'maxInFlight', " +
  "'maxQueued', 'maxSignIns', 'cache', 'statusMap', 'userRecord', 'identityFields', 'loadUser', 'impersonatorField', 'reportOnly', " +
  "'tokenEcho', 'audit', " +
  "'http', 'whileOpen', 'authority', 'token'";

/** All settings that do not depend on the two required options. */
const DEFAULT_SETTINGS = {
  forwardAuthIv: true,
  timeoutMs: 3_000,
  retry: { maxAttempts: 2 },
  maxInFlight: 128,
  maxQueued: 1_024,
  breaker: { windowMs: 10_000, minimumCalls: 20, failureRatio: 0.5, pauseMs: 1_000, maxPauseMs: 30_000 },
  cache: undefined,
  signInTimeoutMs: 10_000,
  signOutTimeoutMs: 5_000,
  maxSignIns: 32,
  statusMap: {},
  userRecord: UserRecord,
  identityFields: ['username', 'email'],
  loadUser: undefined,
  impersonatorField: undefined,
  reportOnly: false,
  tokenEcho: 'deny',
  audit: 'warn',
  whileOpen: { recheckMs: 60_000, outageGraceMs: 300_000 },
  http: {
    httpAgent: undefined,
    httpsAgent: undefined,
    proxy: undefined,
    maxResponseBytes: 65_536,
    maxTokenLength: 4_096,
  },
  resolveAuthority: undefined,
};

function messageOf(options: unknown, name?: string): string {
  try {
    readSettings(options as SessionAuthOptions, name);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    return (error as Error).message;
  }
  throw new Error('The options are valid');
}

describe('the settings of an authority', () => {
  it('are the defaults, except for the two required options', () => {
    const { token: sources, ...settings } = readSettings(REQUIRED);
    expect(settings).toEqual({ ...REQUIRED, ...DEFAULT_SETTINGS, authority: 'default' });
    const request = {
      headers: { 'x-auth-token': 'token', authorization: 'Bearer other' },
    } as unknown as HttpRequest;
    expect(sources.map((source) => source({} as never, request))).toEqual(['token']);
  });

  it('are the defaults as well where an option is undefined', () => {
    const names = KNOWN.split(', ').map((name) => name.slice(1, -1));
    const absent = Object.fromEntries(names.map((name) => [name, undefined]));
    const { token: sources, ...settings } = readSettings({ ...absent, ...REQUIRED });
    expect(settings).toEqual({ ...REQUIRED, ...DEFAULT_SETTINGS, authority: 'default' });
    expect(sources).toHaveLength(1);
  });

  it('have the name of the authority', () => {
    expect(readSettings(REQUIRED, 'partners').authority).toBe('partners');
  });
});

describe('options that are no options', () => {
  it.each([[undefined], [null], ['options'], [7], [[]], [[REQUIRED]], [() => REQUIRED]])(
    'stop the application: %p',
    (options) => {
      expect(messageOf(options)).toBe(`SessionAuthModule: options must be an object. It may hold ${KNOWN}.`);
    },
  );

  it.each([['baseURL'], ['timeout'], ['signInLimit'], ['isglobal'], ['']])(
    'stop the application if they have another one: %p',
    (name) => {
      expect(messageOf({ ...REQUIRED, [name]: undefined })).toBe(
        `SessionAuthModule: options.${name} is not an option. Valid options: ${KNOWN}.`,
      );
    },
  );

  it.each([
    ['retry', 'attempts', {}, "'maxAttempts'"],
    ['breaker', 'window', {}, "'windowMs', 'minimumCalls', 'failureRatio', 'pauseMs', 'maxPauseMs'"],
    [
      'cache',
      'ttl',
      { ttlMs: 1 },
      "'ttlMs', 'negativeTtlMs', 'maxEntries', 'refreshAheadMs', 'staleIfErrorMs', 'store'",
    ],
    ['statusMap', '200', {}, "'400', '401', '403', '404'"],
    ['http', 'agent', {}, "'httpAgent', 'httpsAgent', 'proxy', 'maxResponseBytes', 'maxTokenLength'"],
  ])('stop the application if %s has another one: %s', (owner, name, others, known) => {
    const message = `SessionAuthModule: ${owner}.${name} is not an option. Valid options: ${known}.`;
    expect(messageOf({ ...REQUIRED, [owner]: { ...others, [name]: 1 } })).toBe(message);
  });

  it.each([
    ['retry', "'maxAttempts'"],
    ['breaker', "'windowMs', 'minimumCalls', 'failureRatio', 'pauseMs', 'maxPauseMs'"],
    ['statusMap', "'400', '401', '403', '404'"],
    ['http', "'httpAgent', 'httpsAgent', 'proxy', 'maxResponseBytes', 'maxTokenLength'"],
  ])('stop the application if %s is no object', (owner, known) => {
    for (const value of [null, true, 3, 'on', [], [1], () => ({})]) {
      expect(messageOf({ ...REQUIRED, [owner]: value })).toBe(
        `SessionAuthModule: ${owner} must be an object. It may hold ${known}.`,
      );
    }
  });

  it('name their authority, unless it has no name', () => {
    expect(messageOf({ ...REQUIRED, timeoutMs: 0 }, 'partners')).toMatch(
      /^SessionAuthModule 'partners': timeoutMs must be an integer/,
    );
    expect(messageOf({ ...REQUIRED, timeoutMs: 0 }, 'default')).toMatch(
      /^SessionAuthModule: timeoutMs must be an integer/,
    );
  });

  it('are an error of the application, if one of its getters throws', () => {
    const failure = new TypeError('SessionAuthModule: the application');
    const options = {
      ...REQUIRED,
      get timeoutMs(): number {
        throw failure;
      },
    };
    for (const name of ['default', 'partners']) expect(() => readSettings(options, name)).toThrow(failure);
  });
});
