import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Controller, Post, UseGuards } from '@nestjs/common';
import { inspect } from 'node:util';
import { Roles, SessionAuthGuard, SessionAuthService, type CallOptions } from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { platforms } from '../support/platforms.js';
import { MeController } from '../support/sample-app.js';
import { drop, json, reply, silence, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import {
  CANARY_FORMS,
  canariesIn,
  everythingOf,
  IV,
  KEY,
  PASSWORD,
  TOKEN,
} from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import type { Ask, Trial } from '../support/trial/trial.js';

const FORMS = [KEY, TOKEN, IV, PASSWORD].flatMap((secret) => [
  secret,
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('hex'),
  encodeURIComponent(secret),
  encodeURI(secret),
  JSON.stringify(secret).slice(1, -1),
]);

const holds = (text: string): string[] =>
  FORMS.filter((form) => text.toLowerCase().includes(form.toLowerCase()));

@Controller('bosses')
@UseGuards(SessionAuthGuard)
class BossController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Post()
  @Roles('boss')
  enter(): string {
    return 'in';
  }

  @Post('login')
  async login(): Promise<void> {
    await this.sessions.signIn({ username: 'ann', password: PASSWORD }, { authIv: IV });
  }
}

const FAULTS: [string, Script][] = [
  ...[200, 202, 204, 302, 400, 401, 403, 404, 418, 429, 500, 503].map((status): [string, Script] => [
    String(status),
    reply(status),
  ]),
  ['404 with a page', reply(404, `<html>${KEY} ${TOKEN}</html>`)],
  [
    '500 with everything it was sent',
    (request, response) => response.writeHead(500).end(JSON.stringify(request)),
  ],
  [
    '200 with everything it was sent',
    (request, response) => response.writeHead(200).end(JSON.stringify(request)),
  ],
  ['200 with another token', json({ username: 'ann', auth_token: `${TOKEN}-other` })],
  ['a malformed body', reply(200, `{"auth_token":"${TOKEN}`)],
  ['a reset', drop],
  ['silence', silence],
];

describe.each(platforms('Fastify'))(
  'the key, the token, the IV and the password on %s',
  (_name, platform) => {
    const bed = testbed(platform);
    const printed: string[] = [];

    beforeEach(() => {
      printed.length = 0;
      const print = (chunk: unknown): boolean => printed.push(String(chunk)) > 0;
      for (const stream of [process.stdout, process.stderr])
        jest.spyOn(stream, 'write').mockImplementation(print);
      for (const method of ['log', 'error', 'warn', 'info', 'debug'] as const) {
        jest
          .spyOn(console, method)
          .mockImplementation((...entry) => void print(inspect(entry, { depth: Infinity })));
      }
    });
    afterEach(() => void jest.restoreAllMocks());

    it.each(FAULTS)(
      'are in no log line, no reply and no error when the service answers with %s',
      async (_fault, script) => {
        const service = await bed.service();
        for (const operation of ['user_details', 'sign_in', 'sign_out'] as const)
          service.on(operation, script);
        const logger = new CapturedLog();
        const options = { apiKey: KEY, timeoutMs: 150, signInTimeoutMs: 150, signOutTimeoutMs: 150 };
        const app = await bed.sample(
          { baseUrl: service.url, options, controllers: [MeController, BossController] },
          { logger },
        );
        const headers = { 'x-auth-token': TOKEN, 'x-auth-iv': IV };
        const replies: string[] = [];
        for (const path of ['/me', '/bosses', '/bosses/login']) {
          const answer = await fetch(`${app.url}${path}`, {
            method: path === '/me' ? 'GET' : 'POST',
            headers,
          });
          replies.push(`${[...answer.headers].join()} ${await answer.text()}`);
        }
        const sessions = app.app.get(SessionAuthService);
        const call: CallOptions = { authIv: IV };
        const calls = [
          () => sessions.signIn({ username: 'ann', password: PASSWORD }, call),
          () => sessions.signIn({ username: 'ann', password: PASSWORD }, { authIv: `${IV} ` }),
          () => sessions.signOut(TOKEN, call),
          () => sessions.signOut(`${TOKEN} `, call),
          () => sessions.userDetails(TOKEN, call),
          () => sessions.verify(TOKEN, call),
        ];
        const errors: Error[] = [];
        for (const attempt of calls) await attempt().catch((error: unknown) => errors.push(error as Error));

        expect(errors.length).toBeGreaterThanOrEqual(2);
        expect(errors.map((error) => holds(everythingOf(error))).flat()).toEqual([]);
        expect(errors.filter((error) => error.cause !== undefined)).toEqual([]);
        expect(holds(logger.lines.join('\n'))).toEqual([]);
        expect(holds(printed.join('\n'))).toEqual([]);
        expect(holds(replies.join('\n'))).toEqual([]);
      },
    );
  },
);

describe('the search for secrets', () => {
  it('finds each of them, however it is written', () => {
    for (const form of FORMS) expect(holds(`before ${form} after`)).toContain(form);
  });
});

/** Echoes every request. */
const echo: Script = (request, ...rest) => reply(500, JSON.stringify(request))(request, ...rest);

const ANSWERS: readonly Script[] = [
  ...[200, 202, 204, 302, 400, 401, 403, 404, 418, 429, 500, 503].map((status) => reply(status)),
  reply(404, `<html>${KEY} ${TOKEN} ${IV}</html>`),
  reply(500, `${KEY} ${TOKEN} ${IV} ${PASSWORD}`, { 'x-api-key': KEY, 'x-auth-token': TOKEN }),
  reply(302, '', { location: `http://127.0.0.1:9/?${encodeURIComponent(TOKEN)}` }),
  echo,
  json({ username: 'ann', auth_token: `${TOKEN}-other` }),
  json({ username: TOKEN, role: [KEY] }),
  reply(200, `{"auth_token":"${TOKEN}`),
  drop,
  silence,
];
const LOGIN: Ask = {
  method: 'POST',
  path: '/login',
  token: null,
  body: JSON.stringify({ username: 'ann', password: PASSWORD }),
};
const REQUESTS: readonly Ask[] = [
  { path: '/hm' },
  LOGIN,
  { method: 'DELETE', path: '/logout' },
  { token: `${TOKEN} ` },
  { iv: `${IV} ${IV}` },
];
const options = {
  timeoutMs: 1_000,
  signInTimeoutMs: 1_000,
  signOutTimeoutMs: 1_000,
  breaker: false,
} as const;

/** The six calls of the service class, with the secrets that must not leak. */
function calls({ sessions }: Trial): readonly Promise<unknown>[] {
  const credentials = { username: 'ann', password: PASSWORD };
  return [
    sessions.signIn(credentials, { authIv: IV }),
    sessions.signIn(credentials, { authIv: `${IV} ` }),
    sessions.signOut(TOKEN, { authIv: IV }),
    sessions.signOut(`${TOKEN} `, { authIv: IV }),
    sessions.userDetails(TOKEN, { authIv: IV }),
    sessions.verify(TOKEN, { authIv: IV }),
  ];
}

describe.each(platforms('Fastify'))('secrets on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'no reply and no log line, at the most verbose level, contains the key, a token, an IV or a password, for any answer of the service [L01]',
    async (trial) => {
      for (const script of ANSWERS) {
        for (const operation of ['user_details', 'sign_in', 'sign_out'] as const)
          trial.service.on(operation, script);
        for (const request of REQUESTS) await trial.ask(request);
      }
      expect(trial.answers.length).toBe(ANSWERS.length * REQUESTS.length);
    },
    { options },
  );

  row(
    'no error of the service class contains one either, nor a cause: not in its message, stack, JSON, fields or deepest inspection [L02]',
    async (trial) => {
      const names = new Set<string>();
      for (const script of ANSWERS) {
        for (const operation of ['user_details', 'sign_in', 'sign_out'] as const)
          trial.service.on(operation, script);
        for (const error of await Promise.all(calls(trial).map((call) => trial.thrownBy(call)))) {
          if (error !== undefined) names.add((error as Error).name);
          expect((error as Error | undefined)?.cause).toBeUndefined();
        }
      }
      expect([...names].sort()).toEqual([
        'AccessDeniedError',
        'CredentialsRejectedError',
        'InvalidRequestError',
        'SessionRejectedError',
        'SessionServiceUnavailableError',
        'TooManyAttemptsError',
      ]);
    },
    { options },
  );
});

describe('the search for secrets', () => {
  it('finds each of them, however it is written', () => {
    for (const form of CANARY_FORMS) expect(canariesIn(`before ${form} after`)).toContain(form.toLowerCase());
    for (const encoding of ['base64', 'base64url', 'hex'] as const) {
      for (const before of ['', 'a', 'ab', 'abc'])
        expect(canariesIn(Buffer.from(`${before}${KEY} after`).toString(encoding))).not.toEqual([]);
    }
  });

  it('finds the hidden parts of an error', () => {
    const error = new Error('outer', {
      cause: new Error('inner', {
        cause: Object.defineProperty(new Error('core'), 'config', { value: { key: KEY } }),
      }),
    });
    expect(canariesIn(everythingOf(error))).not.toEqual([]);
    expect(canariesIn(everythingOf(new Error('clean')))).toEqual([]);
  });
});
