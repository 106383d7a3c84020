import { describe, expect, it } from '@jest/globals';
import {
  fromBearer,
  fromCookie,
  fromHeader,
  fromPayload,
  SessionAuthService,
  UserRecord,
  type SessionAuthOptions,
} from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { startSessionService } from 'nestjs-session-auth/testing';
import { Agent as HttpAgent } from 'node:http';
import { inspect } from 'node:util';
import { IsOptional, Validate, ValidatorConstraint } from 'class-validator';
import { CapturedLog } from '../support/captured-log.js';
import { platforms, startApp } from '../support/platforms.js';
import { bootstrapError, sampleApp } from '../support/sample-app.js';
import { canariesIn, everythingOf, KEY, PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { plainRow, rowsOn } from '../support/trial/row.js';
import { testbed } from '../support/testbed.js';

const BASE_URL = 'https://sessions.example.com';
const wrongUrls = [
  ...[
    undefined,
    '',
    ' ',
    'sessions.example.com',
    'ftp://a.example',
    'http://a.example?',
    'http://a.example/#x',
  ],
  `http://user:${encodeURIComponent(PASSWORD)}@a.example`,
  `http://a.example?key=${encodeURIComponent(KEY)}`,
  `http://a.example/#${encodeURIComponent(KEY)}`,
];
const wrongKeys = [
  undefined,
  '',
  ' ',
  ` ${KEY}`,
  `${KEY} `,
  `${KEY}\r\nX: y`,
  `${KEY}\n`,
  `${KEY}é`,
  `${KEY} ${KEY}`,
];

describe('options', () => {
  plainRow(
    'a wrong base URL or key stops the application at its start, and the error does not hold the value [M01]',
    async () => {
      const wrong = [
        ...wrongUrls.map((baseUrl) => ['baseUrl', { baseUrl, apiKey: KEY }] as const),
        ...wrongKeys.map((apiKey) => ['apiKey', { baseUrl: BASE_URL, apiKey }] as const),
      ];
      for (const [option, values] of wrong) {
        const options = values as SessionAuthOptions;
        const error = await bootstrapError(sampleApp({ baseUrl: options.baseUrl, options }));
        expect(error).toBeInstanceOf(InvalidConfigurationError);
        expect(error.message).toContain(option);
        expect(canariesIn(everythingOf(error))).toEqual([]);
      }
    },
  );
});

describe.each(platforms('Express'))('base URLs on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'the endpoints are below the base URL, with and without a trailing slash or a path of its own [M02]',
    async (trial) => {
      for (const [path, prefix] of [
        ['', ''],
        ['/', ''],
        ['/api/v1', '/api/v1'],
        ['/api/v1/', '/api/v1'],
      ] as const) {
        const service = trial.keep(await startSessionService({ basePath: path }));
        service.signInAs({}, TOKEN);
        const { app, url } = await trial.keepApp({}, `${new URL(service.url).origin}${path}`);
        expect(await trial.status({ at: url })).toBe(200);
        await app.get(SessionAuthService).signOut(TOKEN);
        expect(service.requests.map((request) => `${request.method} ${request.path}`)).toEqual([
          `GET ${prefix}/authentication/user_details`,
          `DELETE ${prefix}/authentication`,
        ]);
      }
    },
  );

  plainRow(
    'in production a base URL that is neither https nor on this host is one warning at the start [M03]',
    async () => {
      const before = process.env.NODE_ENV;
      const warnings: number[] = [];
      for (const [environment, baseUrl] of [
        ['production', 'http://sessions.example.com'],
        ['production', 'https://sessions.example.com'],
        ['production', 'http://127.0.0.1:3000'],
        ['development', 'http://sessions.example.com'],
      ] as const) {
        process.env.NODE_ENV = environment;
        const logger = new CapturedLog();
        try {
          await (
            await startApp(platform, sampleApp({ baseUrl, options: { apiKey: KEY } }), { logger })
          ).close();
        } finally {
          process.env.NODE_ENV = before;
        }
        warnings.push(logger.having('warn', 'plain text').length);
        expect(canariesIn(logger.lines.join('\n'))).toEqual([]);
      }
      expect(warnings).toEqual([1, 0, 0, 0]);
    },
  );
});

@ValidatorConstraint({ async: true })
class Later {
  validate(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

class AsyncRecord extends UserRecord {
  @IsOptional() @Validate(Later) readonly badge?: string | undefined;
}

/** The value of a wrong option, where it is distinct from the rest of a message. */
const SECRET = 'S3cr3t-Value';

type Case = [option: string, value: unknown];

const baseUrls: Case[] = [
  ...[
    undefined,
    '',
    ' ',
    'sessions',
    '/api',
    '//a.example',
    'a.example:80',
    42,
    {},
    ' http://a.example',
    'http://a.example\n',
    'http://',
  ],
  ...['ftp://a.example', 'file:///etc', 'ws://a.example', 'javascript:1', new URL('ftp://a.example')],
  ...[
    `http://user:${SECRET}@a.example`,
    `http://${SECRET}@a.example`,
    new URL(`http://:${SECRET}@a.example`),
  ],
  ...[
    `http://a.example?key=${SECRET}`,
    'http://a.example?',
    `http://a.example/api#${SECRET}`,
    'http://a.example#',
  ],
  ...['http://a.example/authentication', 'http://a.example/api/authentication/'],
].map((value) => ['baseUrl', value]);

const apiKeys: Case[] = [
  undefined,
  '',
  ' ',
  42,
  {},
  [SECRET],
  ...at(SECRET, [' %', '% ', '%\r\nX: y', '%\n', '%\0', '% %', '%\t', '%é', '%\u20ac', '%\x7f']),
]
  .concat('k'.repeat(4097))
  .map((value) => ['apiKey', value]);

function at(value: string, places: string[]): unknown[] {
  return places.map((place) => place.replaceAll('%', value));
}

const integers: Case[] = (
  [
    ['timeoutMs', [0, 300_001]],
    ['signInTimeoutMs', [0, 300_001]],
    ['signOutTimeoutMs', [0, 300_001]],
    ['maxInFlight', [0, 10_001]],
    ['maxQueued', [-1, 100_001]],
    ['maxSignIns', [0, 10_001]],
    ['retry.maxAttempts', [0, 11]],
    ['http.maxResponseBytes', [0, 16_777_217]],
    ['http.maxTokenLength', [0, 65_537]],
  ] as const
).flatMap(([option, outside]) =>
  [...outside, -1, 1.5, NaN, Infinity, '10', null, true, 10n].map((value): Case => [option, value]),
);

const others: Case[] = [
  ...[null, 'x-auth-token', 7, {}, [], ['x-auth-token'], [() => undefined, null]].map((value): Case => [
    'token',
    value,
  ]),
  ...[fromHeader, fromBearer, fromCookie, fromPayload, [fromBearer(), fromHeader], UserRecord].map(
    (value): Case => ['token', value],
  ),
  ...[async () => Promise.resolve('token'), Object.assign(() => 'token', { header: 'x-auth\nx: y' })].map(
    (source): Case => ['token', source],
  ),
  ...[null, 'true', 1].map((value): Case => ['forwardAuthIv', value]),
  ...[null, true, 3, 'on'].map((value): Case => ['retry', value]),
  ...[
    { 500: 'forbidden' },
    { 200: 'unauthenticated' },
    { 401: 'allowed' },
    { 401: null },
    'forbidden',
    7,
  ].map((value): Case => ['statusMap', value]),
  ...[null, 'x', Date, Object, UserRecord.prototype, new UserRecord(), AsyncRecord].map((value): Case => [
    'userRecord',
    value,
  ]),
  ...[null, [], 'username', [''], [7], ['user_name'], ['username', 'password']].map((value): Case => [
    'identityFields',
    value,
  ]),
  ...[null, true, '', 'log', 'WARN'].map((value): Case => ['tokenEcho', value]),
  ...[null, 'http', 7].map((value): Case => ['http', value]),
  ...[{}, true, null, 'agent'].flatMap((value): Case[] => [
    ['http.httpAgent', value],
    ['http.httpsAgent', value],
  ]),
  ...[
    'proxy.example.com',
    {},
    { host: 'a.example' },
    { port: 80 },
    { host: 'a b', port: 80 },
    { host: 'a', port: 80, protocol: 'ftp' },
  ].map((value): Case => ['http.proxy', value]),
  ...['baseURL', 'timeout', 'cacheTtl', 'retry.attempts', 'http.agent', 'http.timeout'].map(
    (option): Case => [option, SECRET],
  ),
];

/** Options of which one, perhaps inside another, has this value. */
function withOption(option: string, value: unknown): Record<string, unknown> {
  const [outer = '', inner] = option.split('.');
  return { [outer]: inner === undefined ? value : { [inner]: value } };
}

async function refusalOf(options: Record<string, unknown>): Promise<Error> {
  return bootstrapError(sampleApp({ baseUrl: 'http://127.0.0.1:9', options, controllers: [] }));
}

describe('a bad option', () => {
  it.each([...baseUrls, ...apiKeys, ...integers, ...others])(
    'stops the bootstrap and is named: %s %p',
    async (option, value) => {
      const error = await refusalOf(withOption(option, value));

      expect(error).toBeInstanceOf(InvalidConfigurationError);
      expect(error.message).toMatch(
        new RegExp(`SessionAuthModule: (options\\.)?${option.replace('.', '\\.')}\\b`),
      );
      expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(SECRET);
    },
  );

  it('is an agent together with a proxy', async () => {
    const http = { httpAgent: new HttpAgent(), proxy: { host: 'proxy.example.com', port: 3128 } };

    expect((await refusalOf({ http })).message).toContain('http.proxy');
  });

  it.each([
    [{ token: fromHeader }, 'token has fromHeader itself, which is no source. Call it: fromHeader(...)'],
    [
      { token: async () => Promise.resolve('') },
      'token has an asynchronous source. Use a function that returns the token at once',
    ],
    [
      { cache: {} },
      'cache.ttlMs is missing. Set how many milliseconds a session that ended elsewhere may still work here',
    ],
    [
      { cache: true },
      'cache must be an object with ttlMs, or false. Write cache: { ttlMs: 30_000 } to cache sessions for 30 seconds',
    ],
    [{ cache: { ttlMs: 0 } }, 'cache.ttlMs must be an integer from 1 to 300000. Set it within that range'],
    [
      { maxQueued: -1 },
      'maxQueued must be an integer from 0 to 100000. Set it within that range, or leave it out for 1024',
    ],
    [
      { statusMap: { 403: 'denied' } },
      "statusMap.403 must be one of 'unauthenticated', 'forbidden', 'unavailable'. Choose one, or leave it out for 'forbidden'",
    ],
  ])('has a message with a remedy that works: %j', async (options, message) => {
    expect((await refusalOf(options)).message).toBe(`SessionAuthModule: ${message}.`);
  });

  it.each([
    fromHeader('X_Auth.Token~1'),
    fromCookie('__Host-session'),
    fromCookie('connect.sid[0]'),
    fromCookie('session', { trustedOrigins: ['https://app.example.com', 'capacitor://localhost'] }),
    fromPayload('my token'),
    Object.assign(() => 'token', { header: 'X-Own' }),
    [fromBearer(), () => undefined],
  ])('is no source with an unusual name, and no function of the application', async (token) => {
    await expect(refusalOf({ token })).rejects.toThrow('The application started');
  });

  it('has a message with the remedy, and the code INVALID_CONFIGURATION', async () => {
    const error = await refusalOf({ baseUrl: 'ftp://a.example' });

    expect(error).toMatchObject({ name: 'InvalidConfigurationError', code: 'INVALID_CONFIGURATION' });
    expect(error.message).toMatch(/must start with http:\/\/ or https:\/\/\. Give it .+\.$/);
  });
});

describe.each(platforms('Express'))('the base URL on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each([
    ['', ''],
    ['/', ''],
    ['/api', '/api'],
    ['/api/', '/api'],
    ['/api/v1', '/api/v1'],
    ['/api/v1/', '/api/v1'],
    ['/a%20b', '/a%20b'],
    ['/authentication-service', '/authentication-service'],
  ])('with the path %p has its endpoints under %p', async (path, prefix) => {
    const service = await bed.service({ basePath: path });
    const app = await bed.sample({ baseUrl: `${new URL(service.url).origin}${path}` });
    const token = service.signInAs({});
    const sessions = app.app.get(SessionAuthService);
    expect((await app.get('/me', token)).status).toBe(200);
    await sessions.signIn({ username: 'ann', password: 'wrong' }).catch(() => undefined);
    await sessions.signOut(token);

    expect(service.requests.map((request) => `${request.method} ${request.path}`)).toEqual([
      `GET ${prefix}/authentication/user_details`,
      `POST ${prefix}/authentication`,
      `DELETE ${prefix}/authentication`,
    ]);
  });

  it('may be a URL object', async () => {
    const service = await bed.service({ basePath: '/api' });
    const app = await bed.sample({ baseUrl: new URL('/api/', service.url) });
    expect((await app.get('/me', service.signInAs({}))).status).toBe(200);

    expect(service.requests[0]?.path).toBe('/api/authentication/user_details');
  });

  const warnings = async (baseUrl: string, environment: string): Promise<number> => {
    const logger = new CapturedLog();
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = environment;
    try {
      await bed.sample({ baseUrl, options: { apiKey: 'the-secret-key' } }, { logger });
    } finally {
      process.env.NODE_ENV = before;
    }
    expect(logger.lines.join('\n')).not.toContain('the-secret-key');
    return logger.having('warn', 'plain text').length;
  };

  it.each(['http://sessions.example.com', 'http://10.0.0.1/api', 'http://localhost.example.com'])(
    'earns one warning in production when %s is not encrypted',
    async (baseUrl) => {
      expect(await warnings(baseUrl, 'production')).toBe(1);
    },
  );

  it.each([
    ['https://sessions.example.com', 'production'],
    ['http://localhost:3000', 'production'],
    ['http://127.0.0.1:3000', 'production'],
    ['http://[::1]:3000', 'production'],
    ['http://sessions.example.com', 'development'],
  ])('earns no warning: %s in %s', async (baseUrl, environment) => {
    expect(await warnings(baseUrl, environment)).toBe(0);
  });
});
