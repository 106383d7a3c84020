import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Controller, Post, UseGuards } from '@nestjs/common';
import { inspect } from 'node:util';
import { Roles, SessionAuthGuard, SessionAuthService, type CallOptions } from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { PLATFORMS } from '../support/platforms.js';
import { MeController } from '../support/sample-app.js';
import { drop, json, reply, silence, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

/** Each holds characters that every encoding writes differently. */
const KEY = 'canary-key/+=%"1';
const TOKEN = 'canary-token/+=%"2';
const IV = 'canary-iv/+=%"3';
const PASSWORD = 'canary password/+=%"4';

const FORMS = [KEY, TOKEN, IV, PASSWORD].flatMap((secret) => [
  secret,
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('hex'),
  encodeURIComponent(secret),
  encodeURI(secret),
  JSON.stringify(secret).slice(1, -1),
]);

const holds = (text: string): string[] => FORMS.filter((form) => text.toLowerCase().includes(form.toLowerCase()));

/** Everything that somebody could print of an error. */
function everythingOf(error: Error): string {
  const all = { depth: Infinity, showHidden: true, getters: true, maxStringLength: Infinity };
  return [
    error.message,
    error.stack,
    String(error),
    JSON.stringify(error),
    inspect(error),
    inspect(error, all),
    inspect(Object.entries(error), all),
  ].join('\n');
}

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
  ...[200, 202, 204, 302, 400, 401, 403, 404, 418, 429, 500, 503].map((status): [string, Script] => [String(status), reply(status)]),
  ['404 with a page', reply(404, `<html>${KEY} ${TOKEN}</html>`)],
  ['500 with everything it was sent', (request, response) => response.writeHead(500).end(JSON.stringify(request))],
  ['200 with everything it was sent', (request, response) => response.writeHead(200).end(JSON.stringify(request))],
  ['200 with another token', json({ username: 'ann', auth_token: `${TOKEN}-other` })],
  ['a malformed body', reply(200, `{"auth_token":"${TOKEN}`)],
  ['a reset', drop],
  ['silence', silence],
];

describe.each(PLATFORMS)('the key, the token, the IV and the password on %s', (_name, platform) => {
  const bed = testbed(platform);
  const printed: string[] = [];

  beforeEach(() => {
    printed.length = 0;
    const print = (chunk: unknown): boolean => printed.push(String(chunk)) > 0;
    for (const stream of [process.stdout, process.stderr]) jest.spyOn(stream, 'write').mockImplementation(print);
    for (const method of ['log', 'error', 'warn', 'info', 'debug'] as const) {
      jest.spyOn(console, method).mockImplementation((...entry) => void print(inspect(entry, { depth: Infinity })));
    }
  });
  afterEach(() => void jest.restoreAllMocks());

  it.each(FAULTS)('are in no log line, no reply and no error when the service answers with %s', async (_fault, script) => {
    const service = await bed.service();
    for (const operation of ['user_details', 'sign_in', 'sign_out'] as const) service.on(operation, script);
    const logger = new CapturedLog();
    const options = { apiKey: KEY, timeoutMs: 150, signInTimeoutMs: 150, signOutTimeoutMs: 150 };
    const app = await bed.sample({ baseUrl: service.url, options, controllers: [MeController, BossController] }, { logger });
    const headers = { 'x-auth-token': TOKEN, 'x-auth-iv': IV };
    const replies: string[] = [];
    for (const path of ['/me', '/bosses', '/bosses/login']) {
      const answer = await fetch(`${app.url}${path}`, { method: path === '/me' ? 'GET' : 'POST', headers });
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
  });
});

describe('the search for secrets', () => {
  it('finds each of them, however it is written', () => {
    for (const form of FORMS) expect(holds(`before ${form} after`)).toContain(form);
  });
});
