import { describe, expect, it } from '@jest/globals';
import { Agent as HttpAgent } from 'node:http';
import { inspect } from 'node:util';
import { IsOptional, Validate, ValidatorConstraint } from 'class-validator';
import { UserRecord } from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { bootstrapError, sampleApp } from '../support/sample-app.js';

@ValidatorConstraint({ async: true })
class Later {
  validate(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

class AsyncRecord extends UserRecord {
  @IsOptional() @Validate(Later) readonly badge?: string | undefined;
}

/** The value of a wrong option, where it could be told from the rest of a message. */
const SECRET = 'S3cr3t-Value';

type Case = [option: string, value: unknown];

const baseUrls: Case[] = [
  ...[undefined, '', ' ', 'sessions', '/api', '//a.example', 'a.example:80', 42, {}, ' http://a.example', 'http://a.example\n', 'http://'],
  ...['ftp://a.example', 'file:///etc', 'ws://a.example', 'javascript:1', new URL('ftp://a.example')],
  ...[`http://user:${SECRET}@a.example`, `http://${SECRET}@a.example`, new URL(`http://:${SECRET}@a.example`)],
  ...[`http://a.example?key=${SECRET}`, 'http://a.example?', `http://a.example/api#${SECRET}`, 'http://a.example#'],
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
).flatMap(([option, outside]) => [...outside, -1, 1.5, NaN, Infinity, '10', null, true, 10n].map((value): Case => [option, value]));

const others: Case[] = [
  ...[null, 'x-auth-token', 7, {}, [], ['x-auth-token'], [() => undefined, null]].map((value): Case => ['token', value]),
  ...[null, 'true', 1].map((value): Case => ['forwardAuthIv', value]),
  ...[null, true, 3, 'on'].map((value): Case => ['retry', value]),
  ...[{ 500: 'forbidden' }, { 200: 'unauthenticated' }, { 401: 'allowed' }, { 401: null }, 'forbidden', 7].map((value): Case => [
    'statusMap',
    value,
  ]),
  ...[null, 'x', Date, Object, UserRecord.prototype, new UserRecord(), AsyncRecord].map((value): Case => ['userRecord', value]),
  ...[null, [], 'username', [''], [7], ['user_name'], ['username', 'password']].map((value): Case => ['identityFields', value]),
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
  ...['baseURL', 'timeout', 'cacheTtl', 'retry.attempts', 'http.agent', 'http.timeout'].map((option): Case => [option, SECRET]),
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
  it.each([...baseUrls, ...apiKeys, ...integers, ...others])('stops the bootstrap and is named: %s %p', async (option, value) => {
    const error = await refusalOf(withOption(option, value));

    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect(error.message).toMatch(new RegExp(`SessionAuthModule: (options\\.)?${option.replace('.', '\\.')}\\b`));
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(SECRET);
  });

  it('is an agent together with a proxy', async () => {
    const http = { httpAgent: new HttpAgent(), proxy: { host: 'proxy.example.com', port: 3128 } };

    expect((await refusalOf({ http })).message).toContain('http.proxy');
  });

  it('is told with its remedy, and with the code INVALID_CONFIGURATION', async () => {
    const error = await refusalOf({ baseUrl: 'ftp://a.example' });

    expect(error).toMatchObject({ name: 'InvalidConfigurationError', code: 'INVALID_CONFIGURATION' });
    expect(error.message).toMatch(/must start with http:\/\/ or https:\/\/\. Give it .+\.$/);
  });
});
