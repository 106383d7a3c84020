import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { runInThisContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { UserRecord } from '../../contract/record/user-record.js';
import { SessionStore } from '../../contract/session-store.js';
import type { HttpRequest } from '../../guard/http-request.js';
import { fromBearer, fromCookie, fromHeader, fromPayload } from '../../guard/token-source.js';
import type { SessionAuthOptions } from '../options/options.js';
import { readSettings } from './settings.js';

const REQUIRED = { baseUrl: 'https://sessions.example.com', apiKey: 'key' };
const BREAKER = { windowMs: 10_000, minimumCalls: 20, failureRatio: 0.5, pauseMs: 1_000, maxPauseMs: 30_000 };
const CACHE = { negativeTtlMs: 5_000, maxEntries: 10_000, refreshAheadMs: 0, staleIfErrorMs: 0 };

/** All settings that do not depend on the two required options. */
const DEFAULT_SETTINGS = {
  forwardAuthIv: true,
  timeoutMs: 3_000,
  retry: { maxAttempts: 2 },
  maxInFlight: 128,
  maxQueued: 1_024,
  breaker: BREAKER,
  cache: undefined,
  signInTimeoutMs: 10_000,
  signOutTimeoutMs: 5_000,
  maxSignIns: 32,
  statusMap: {},
  userRecord: UserRecord,
  identityFields: ['username', 'email'],
  loadUser: undefined,
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
};

const KNOWN =
  "'baseUrl', 'apiKey', 'forwardAuthIv', 'timeoutMs', 'signInTimeoutMs', 'signOutTimeoutMs', 'retry', 'breaker', 'maxInFlight', " +
  "'maxQueued', 'maxSignIns', 'cache', 'statusMap', 'userRecord', 'identityFields', 'loadUser', 'reportOnly', " +
  "'tokenEcho', 'audit', " +
  "'http', 'whileOpen', 'token'";

/** The other options of a group, where a test sets one. */
const BESIDE: Record<string, object> = { breaker: { pauseMs: 2_000 }, cache: { ttlMs: 10_000 } };

/** Options of which one, perhaps inside another, has this value. */
function withOption(option: string, value: unknown): object {
  const [outer = '', inner] = option.split('.');
  return { [outer]: inner === undefined ? value : { ...BESIDE[outer], [inner]: value } };
}

function read(options: object) {
  return readSettings({ ...REQUIRED, ...options });
}

function settingOf(option: string, value: unknown): unknown {
  const [outer = '', inner] = option.split('.');
  const { [outer]: setting } = read(withOption(option, value)) as unknown as Record<string, object>;
  return inner === undefined ? setting : Reflect.get(setting ?? {}, inner);
}

function messageOf(options: unknown): string {
  try {
    readSettings(options as SessionAuthOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    return (error as Error).message;
  }
  return 'The options are valid';
}

function expectRefused(option: string, values: unknown[], message: string): void {
  for (const value of values) {
    const refused = messageOf({ ...REQUIRED, ...withOption(option, value) });
    expect([value, refused]).toEqual([value, `SessionAuthModule: ${message}.`]);
  }
}

describe('the settings of a registration', () => {
  it('are the defaults, except for the two required options', () => {
    const { token: sources, ...settings } = readSettings(REQUIRED);
    expect(settings).toEqual({ ...REQUIRED, ...DEFAULT_SETTINGS });
    const request = {
      headers: { 'x-auth-token': 'token', authorization: 'Bearer other' },
    } as unknown as HttpRequest;
    expect(sources.map((source) => source({} as never, request))).toEqual(['token']);
  });

  it('are the defaults as well where an option is undefined', () => {
    const names = KNOWN.split(', ').map((name) => name.slice(1, -1));
    const absent = Object.fromEntries(names.map((name) => [name, undefined]));
    expect(readSettings({ ...absent, ...REQUIRED })).toMatchObject({ ...REQUIRED, ...DEFAULT_SETTINGS });
  });

  it('are the defaults of a group where it is empty, or an option in it is undefined', () => {
    expect(read({ breaker: {}, retry: {}, http: {}, whileOpen: {} })).toMatchObject(DEFAULT_SETTINGS);
    const { breaker, retry } = read({
      breaker: { failureRatio: undefined, windowMs: 20 },
      retry: { maxAttempts: undefined },
    });
    expect([breaker, retry]).toEqual([{ ...BREAKER, windowMs: 20 }, { maxAttempts: 2 }]);
    expect(read({ cache: { ttlMs: 7 } }).cache).toEqual({ ttlMs: 7, ...CACHE });
  });

  it('have no retry, no breaker and no cache with false', () => {
    expect(read({ retry: false, breaker: false, cache: false })).toMatchObject({
      retry: { maxAttempts: 1 },
      breaker: undefined,
      cache: undefined,
    });
  });

  it('do not change with the object of the option statusMap, which may be a proxy', () => {
    const statusMap = new Proxy({ 401: 'unavailable', signIn: { 422: 'rejected' } }, {});
    const settings = read({ statusMap });
    statusMap[401] = 'authenticated';
    statusMap.signIn[422] = 'signed in';
    expect(settings.statusMap).toEqual({ 401: 'unavailable', signIn: { 422: 'rejected' } });
  });
});

describe('options that are no options', () => {
  it.each([[undefined], [null], [[REQUIRED]], [() => REQUIRED]])('stop the application: %p', (options) => {
    expect(messageOf(options)).toBe(`SessionAuthModule: options must be an object. It may hold ${KNOWN}.`);
  });

  it.each([
    [{ 500: 'denied' }, /^SessionAuthModule: statusMap\.signIn\.500 is not an option\. /],
    [{ 422: 'unauthenticated' }, /^SessionAuthModule: statusMap\.signIn\.422 must be .*'rejected'/],
    ['rejected', /^SessionAuthModule: statusMap\.signIn must be an object\. /],
  ])('stop the application if statusMap.signIn is %j', (signIn, message) => {
    expect(messageOf({ ...REQUIRED, statusMap: { signIn } })).toMatch(message);
  });

  it.each<[string, string, string]>([
    ['options', 'url', KNOWN],
    ['retry', 'attempts', "'maxAttempts'"],
    ['breaker', 'window', "'windowMs', 'minimumCalls', 'failureRatio', 'pauseMs', 'maxPauseMs'"],
    ['cache', 'ttl', "'ttlMs', 'negativeTtlMs', 'maxEntries', 'refreshAheadMs', 'staleIfErrorMs', 'store'"],
    ['statusMap', '200', "'400', '401', '403', '404', 'signIn'"],
    ['http', 'agent', "'httpAgent', 'httpsAgent', 'proxy', 'maxResponseBytes', 'maxTokenLength'"],
    ['whileOpen', 'recheck', "'recheckMs', 'outageGraceMs'"],
  ])('stop the application if %s has one of them, or is no object: %j', (owner, name, known) => {
    const option = owner === 'options' ? name : `${owner}.${name}`;
    expectRefused(option, [undefined], `${owner}.${name} is not an option. Valid options: ${known}`);
    if (owner === 'options' || owner === 'cache') return;
    const values = [null, true, 'on', [], () => ({})];
    expectRefused(owner, values, `${owner} must be an object. It may hold ${known}`);
  });

  it.each([
    ['baseURL', 'baseUrl'],
    ['timoutMs', 'timeoutMs'],
    ['timeooutMs', 'timeoutMs'],
    ['rerty', 'retry'],
    ['cachr', 'cache'],
  ])('are corrected if one letter is wrong: %s', (name, meant) => {
    expectRefused(name, [undefined], `options.${name} is not an option. You may mean '${meant}'`);
  });

  it.each(['isGlobal', 'protectAllRoutes', 'plugins'])(
    'stop the application if they are an extra, because it comes too late: %s',
    (extra) => {
      const message = `options.${extra} is among the options that forRootAsync() has received. Set ${extra} beside useFactory, useClass or useExisting`;
      expectRefused(extra, [undefined, 'partners'], message);
    },
  );
});

describe('an integer', () => {
  const NO_INTEGERS = [1.5, NaN, '10', null];

  it.each<[option: string, min: number, max: number, fallback: number | undefined]>([
    ['timeoutMs', 1, 300_000, 3_000],
    ['signInTimeoutMs', 1, 300_000, 10_000],
    ['signOutTimeoutMs', 1, 300_000, 5_000],
    ['maxInFlight', 1, 10_000, 128],
    ['maxQueued', 0, 100_000, 1_024],
    ['maxSignIns', 1, 10_000, 32],
    ['retry.maxAttempts', 1, 10, 2],
    ['breaker.windowMs', 10, 300_000, 10_000],
    ['breaker.minimumCalls', 1, 1_000_000, 20],
    ['breaker.pauseMs', 1, 120_000, 1_000],
    ['breaker.maxPauseMs', 2_000, 120_000, 30_000],
    ['http.maxResponseBytes', 1, 16_777_216, 65_536],
    ['http.maxTokenLength', 1, 65_536, 4_096],
    ['whileOpen.recheckMs', 1, 86_400_000, 60_000],
    ['whileOpen.outageGraceMs', 0, 86_400_000, 300_000],
    ['cache.ttlMs', 1, 300_000, undefined],
    ['cache.negativeTtlMs', 0, 300_000, 5_000],
    ['cache.maxEntries', 1, 10_000_000, 10_000],
    ['cache.refreshAheadMs', 0, 9_999, 0],
    ['cache.staleIfErrorMs', 0, 86_400_000, 0],
  ])('is within its bounds: %s from %i to %i', (option, min, max, fallback) => {
    expect([min, max].map((value) => settingOf(option, value))).toEqual([min, max]);
    const remedy = fallback === undefined ? '' : `, or leave it out for ${fallback}`;
    const message = `${option} must be an integer from ${min} to ${max}. Set it within that range${remedy}`;
    expectRefused(option, [min - 1, max + 1, ...NO_INTEGERS], message);
  });

  it.each<[object, string]>([
    [{ cache: { ttlMs: 1, refreshAheadMs: 1 } }, 'cache.refreshAheadMs must be an integer from 0 to 0.'],
    [
      { breaker: { pauseMs: 40_000, maxPauseMs: 39_999 } },
      'breaker.maxPauseMs must be an integer from 40000 to 120000.',
    ],
  ])('may have a bound that depends on another option: %j', (options, problem) => {
    expect(messageOf({ ...REQUIRED, ...options })).toContain(`SessionAuthModule: ${problem}`);
  });

  it('has a default within such a bound', () => {
    for (const pauseMs of [30_000, 40_000])
      expect(read({ breaker: { pauseMs } }).breaker?.maxPauseMs).toBe(pauseMs);
  });
});

class StaffRecord extends UserRecord {}
const PROXY = { host: 'proxy.example.com', port: 3128 };
const [httpAgent, httpsAgent] = [new HttpAgent(), new HttpsAgent()];

/** As agents of proxies do, it determines its protocol for each call. */
class AgentOfProxy extends HttpAgent {
  get protocol(): string {
    return 'http:';
  }
  set protocol(given: string) {
    expect(given).toBe('http:');
  }
}
const agentOfProxy = new AgentOfProxy();

const RETURNS_PROMISE = async (): Promise<string> => Promise.resolve('partners');
const GENERATORS = [
  function* () {
    yield 'token';
  },
  async function* () {
    yield await Promise.resolve('token');
  },
];
/** Its text begins like that of a class, and has one within. */
const METHODS: unknown[] = Object.values({
  classToken(): string {
    return 'class {';
  },
});

describe('a value of an option', () => {
  it.each<[option: string, values: unknown[]]>([
    ['forwardAuthIv', [true, false]],
    ['tokenEcho', ['ignore', 'warn', 'deny']],
    ['audit', ['off', 'warn', 'error']],
    ['apiKey', ['k', '!~', 'k'.repeat(4_096), () => 'key', RETURNS_PROMISE]],
    ['statusMap', [{ 400: 'unavailable', 401: 'forbidden', 403: 'unauthenticated', 404: 'forbidden' }]],
    ['userRecord', [UserRecord, StaffRecord]],
    ['identityFields', [['email'], ['username', 'email']]],
    ['breaker.failureRatio', [Number.MIN_VALUE, 0.25, 1]],
    ['http.httpAgent', [httpAgent, agentOfProxy]],
    ['http.httpsAgent', [httpsAgent, agentOfProxy]],
    [
      'http.proxy',
      [
        PROXY,
        { host: '[::1]', port: 65_535 },
        { ...PROXY, auth: { username: 'ann', password: 'secret' } },
        ...['http', 'http:', 'https', 'https:'].map((protocol) => ({ ...PROXY, protocol })),
      ],
    ],
    [
      'token',
      [
        [fromHeader('X_Auth.Token~1')],
        [fromBearer(), fromPayload('my token')],
        [
          fromCookie('__Host-session'),
          fromCookie('session', { trustedOrigins: ['https://app.example.com'] }),
        ],
        [() => undefined, ...METHODS],
        [Object.assign(() => 'token', { header: 'X-Own' })],
        [Object.assign(() => 'token', { header: undefined })],
      ],
    ],
  ])('is the setting: %s', (option, values) => {
    for (const value of values) expect(settingOf(option, value)).toEqual(value);
  });

  it('of token may be one source', () => {
    const source = fromBearer();
    expect(read({ token: source }).token).toEqual([source]);
  });

  it.each<[option: string, values: unknown[], message: string]>([
    [
      'forwardAuthIv',
      [null, 1, 'true'],
      'forwardAuthIv must be a boolean. Set true or false, or leave it out for true',
    ],
    [
      'tokenEcho',
      [null, 'log', ['warn']],
      "tokenEcho must be one of 'ignore', 'warn', 'deny'. Choose one, or leave it out for 'deny'",
    ],
    [
      'audit',
      [null, 'log'],
      "audit must be one of 'off', 'warn', 'error'. Choose one, or leave it out for 'warn'",
    ],
    [
      'apiKey',
      [undefined, ''],
      'apiKey is missing. Give it the application key: 1 to 4096 visible ASCII characters, or a function',
    ],
    [
      'apiKey',
      [null, 'key ', 'key\r\nX: y', 'k\u00e9y', 'k'.repeat(4_097), UserRecord],
      'apiKey is not a key that can be sent. Give it the application key: 1 to 4096 visible ASCII characters, or a function',
    ],
    ...([400, 401, 403, 404] as const).map((status): [string, unknown[], string] => [
      'statusMap',
      [null, 'authenticated'].map((value) => ({ 401: 'forbidden', [status]: value })),
      `statusMap.${status} must be one of 'unauthenticated', 'forbidden', 'unavailable'. Choose one, or leave it out for '${status === 403 ? 'forbidden' : 'unauthenticated'}'`,
    ]),
    [
      'identityFields',
      [null, [], 'username', { length: 1, 0: 'username' }, ['username', ''], [7]],
      "identityFields must be a list of at least one field name. Name fields of the user record, for example ['username']",
    ],
    [
      'loadUser',
      [null, 'ann', {}],
      'loadUser must be a function or a class. Give it (record, context) => user, or a class with load(record, context)',
    ],
    [
      'breaker.failureRatio',
      [0, 1.000_001, NaN, '0.5'],
      'breaker.failureRatio must be a number above 0 and up to 1. Set it within that range, or leave it out for 0.5',
    ],
    [
      'cache',
      [null, true, []],
      'cache must be an object with ttlMs, or false. Write cache: { ttlMs: 30_000 } to cache sessions for 30 seconds',
    ],
    [
      'cache.ttlMs',
      [undefined],
      'cache.ttlMs is missing. Set how many milliseconds a session that ended elsewhere may still work here',
    ],
    [
      'cache.store',
      [null, 'redis://127.0.0.1', {}, SessionStore],
      "cache.store must be a SessionStore. Give it new RedisSessionStore({ redis }) of 'nestjs-session-auth/redis'",
    ],
    ...['http.httpAgent', 'http.httpsAgent'].map((option): [string, unknown[], string] => [
      option,
      [null, 'agent', {}, HttpAgent],
      `${option} must be an agent of node:http or node:https. Give it one, or leave it out`,
    ]),
    ['http.httpAgent', [httpsAgent], 'http.httpAgent is an agent for https. Set it as http.httpsAgent'],
    [
      'http.httpsAgent',
      [httpAgent, new (class OwnAgent extends HttpAgent {})()],
      'http.httpsAgent is an agent for http. Set it as http.httpAgent',
    ],
    [
      'http',
      [
        { httpAgent, proxy: PROXY },
        { httpsAgent, proxy: PROXY },
      ],
      'http.proxy cannot go with an agent. Set one of the two',
    ],
    [
      'http.proxy',
      [
        {},
        { host: 'proxy.example.com' },
        { port: 3128 },
        ...['', 'a b', 7, '::1', 'a/path', 'user@a'].map((host) => ({ ...PROXY, host })),
        ...['3128', 0, 65_536].map((port) => ({ ...PROXY, port })),
        ...['', 'xhttp', 'httpss', null].map((protocol) => ({ ...PROXY, protocol })),
      ],
      "http.proxy must have a host and a port. Give it { host: 'proxy.example.com', port: 3128 }",
    ],
    [
      'http.proxy',
      [null, { username: 'app' }, { username: 7, password: 'secret' }].map((auth) => ({ ...PROXY, auth })),
      'http.proxy.auth must have a username and a password. Give it { username, password }, or leave it out',
    ],
    [
      'http.proxy',
      [null, 'http://proxy.example.com:3128', []],
      "http.proxy must be an object. It may hold 'protocol', 'host', 'port', 'auth'",
    ],
    [
      'http.proxy',
      [{ ...PROXY, hostname: 'proxy' }],
      "http.proxy.hostname is not an option. Valid options: 'protocol', 'host', 'port', 'auth'",
    ],
    [
      'token',
      [
        ...[null, 'x-auth-token', {}, [], [fromBearer(), null]],
        ...[[fromBearer(), UserRecord], runInThisContext('(class{})') as unknown],
      ],
      "token must be a token source, or a list of them. Give it fromHeader('x-auth-token'), fromBearer(), fromCookie(name) or your own function",
    ],
    ...[fromHeader, fromBearer, fromCookie, fromPayload].map((create): [string, unknown[], string] => [
      'token',
      [create, [() => undefined, create]],
      `token has ${create.name} itself, which is no source. Call it: ${create.name}(...)`,
    ]),
    [
      'token',
      [RETURNS_PROMISE, ...GENERATORS],
      'token has an asynchronous source. Use a function that returns the token at once',
    ],
    [
      'token',
      ['x-auth\nx: y', '', null, ['x-auth']].map((header) => Object.assign(() => 'token', { header })),
      'token has a source whose header is not the name of a header. Set it to the one header that the source reads',
    ],
  ])('stops the application: a wrong %s', expectRefused);
});
