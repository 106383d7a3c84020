import { describe, expect } from '@jest/globals';
import { SessionAuthService, type SessionAuthOptions } from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { startSessionService } from 'nestjs-session-auth/testing';
import { CapturedLog } from '../support/captured-log.js';
import { PLATFORMS, startApp } from '../support/platforms.js';
import { bootstrapError, sampleApp } from '../support/sample-app.js';
import { canariesIn, everythingOf, KEY, PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { plainRow, rowsOn } from '../support/trial/row.js';

const BASE_URL = 'https://sessions.example.com';
const baseUrls = [
  ...[undefined, '', ' ', 'sessions.example.com', 'ftp://a.example', 'http://a.example?', 'http://a.example/#x'],
  `http://user:${encodeURIComponent(PASSWORD)}@a.example`,
  `http://a.example?key=${encodeURIComponent(KEY)}`,
  `http://a.example/#${encodeURIComponent(KEY)}`,
];
const apiKeys = [undefined, '', ' ', ` ${KEY}`, `${KEY} `, `${KEY}\r\nX: y`, `${KEY}\n`, `${KEY}é`, `${KEY} ${KEY}`];

describe('options', () => {
  plainRow('a wrong base URL or key stops the application at its start, and the error does not hold the value [M01]', async () => {
    const wrong = [
      ...baseUrls.map((baseUrl) => ['baseUrl', { baseUrl, apiKey: KEY }] as const),
      ...apiKeys.map((apiKey) => ['apiKey', { baseUrl: BASE_URL, apiKey }] as const),
    ];
    for (const [option, values] of wrong) {
      const options = values as SessionAuthOptions;
      const error = await bootstrapError(sampleApp({ baseUrl: options.baseUrl, options }));
      expect(error).toBeInstanceOf(InvalidConfigurationError);
      expect(error.message).toContain(option);
      expect(canariesIn(everythingOf(error))).toEqual([]);
    }
  });
});

describe.each(PLATFORMS)('base URLs on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row('the endpoints are below the base URL, with and without a trailing slash or a path of its own [M02]', async (trial) => {
    for (const [path, prefix] of [
      ['', ''],
      ['/', ''],
      ['/api/v1', '/api/v1'],
      ['/api/v1/', '/api/v1'],
    ] as const) {
      const service = trial.keep(await startSessionService());
      service.signInAs({}, TOKEN);
      const { app, url } = await trial.keepApp({}, `${service.url}${path}`);
      expect(await trial.status({ at: url })).toBe(200);
      await app.get(SessionAuthService).signOut(TOKEN);
      expect(service.requests.map((request) => `${request.method} ${request.path}`)).toEqual([
        `GET ${prefix}/authentication/user_details`,
        `DELETE ${prefix}/authentication`,
      ]);
    }
  });

  plainRow('in production a base URL that is neither https nor on this host is one warning at the start [M03]', async () => {
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
        await (await startApp(platform, sampleApp({ baseUrl, options: { apiKey: KEY } }), { logger })).close();
      } finally {
        process.env.NODE_ENV = before;
      }
      warnings.push(logger.having('warn', 'plain text').length);
      expect(canariesIn(logger.lines.join('\n'))).toEqual([]);
    }
    expect(warnings).toEqual([1, 0, 0, 0]);
  });
});
