import { describe, expect, it } from '@jest/globals';
import { SessionAuthService, type SessionAuthOptions } from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { startSessionService } from 'nestjs-session-auth/testing';
import { CapturedLog } from '../support/captured-log.js';
import { platforms, startApp } from '../support/platforms.js';
import { bootstrapError, sampleApp } from '../support/sample-app.js';
import { canariesIn, everythingOf, KEY, PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';

const BASE_URL = 'https://sessions.example.com';
const wrongUrls = [
  'sessions.example.com',
  `http://user:${encodeURIComponent(PASSWORD)}@a.example`,
  `http://a.example?key=${encodeURIComponent(KEY)}`,
];
const wrongKeys = [undefined, `${KEY} `, `${KEY}\r\nX: y`, `${KEY}é`];

describe('options', () => {
  it('a wrong base URL or key stops the application at its start, and the error does not hold the value [M01]', async () => {
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
  });
});

describe.each(platforms('Express'))('base URLs on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'the endpoints are below the base URL, with and without a trailing slash or a path of its own [M02]',
    async (trial) => {
      for (const [path, prefix] of [
        ['', ''],
        ['/api/v1/', '/api/v1'],
        ['/a%20b', '/a%20b'],
      ] as const) {
        const service = trial.keep(await startSessionService({ basePath: path }));
        service.signInAs({}, TOKEN);
        const { app, url } = await trial.keepApp({}, `${new URL(service.url).origin}${path}`);
        expect(await trial.status({ at: url })).toBe(200);
        const sessions = app.get(SessionAuthService);
        await sessions.signIn({ username: 'ann', password: 'wrong' }).catch(() => undefined);
        await sessions.signOut(TOKEN);
        expect(service.requests.map((request) => `${request.method} ${request.path}`)).toEqual([
          `GET ${prefix}/authentication/user_details`,
          `POST ${prefix}/authentication`,
          `DELETE ${prefix}/authentication`,
        ]);
      }
    },
  );

  it('in production a base URL that is neither https nor on this host is one warning at the start [M03]', async () => {
    const before = process.env.NODE_ENV;
    const warnings: number[] = [];
    for (const [environment, baseUrl] of [
      ['production', 'http://sessions.example.com'],
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
    expect(warnings).toEqual([1, 0, 0]);
  });
});
