import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect } from '@jest/globals';
import { SessionAuthService, type SessionAuthOptions } from 'nestjs-session-auth';
import { bytesThenSilence, json, type Script } from 'nestjs-session-auth/testing';
import { oneOf } from '../support/long-form.js';
import { PLATFORMS } from '../support/platforms.js';
import { PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Trial } from '../support/trial/trial.js';

/** Ways to the session service, and how an application is told of each. */
const WAYS = ['the built-in pool', 'an agent', 'a proxy'] as const;

const OK = 'HTTP/1.1 200 OK';
const TYPE = 'Content-Type: application/json';
const CONTINUE = ['HTTP/1.1 100 Continue', ''];
const HINTS = ['HTTP/1.1 103 Early Hints', 'Link: </style.css>; rel=preload', ''];

function httpOver(way: (typeof WAYS)[number], serviceUrl: string): Pick<SessionAuthOptions, 'http'> & { readonly baseUrl: string } {
  const { hostname, port } = new URL(serviceUrl);
  if (way === 'a proxy') return { baseUrl: 'http://sessions.example.com', http: { proxy: { host: hostname, port: Number(port) } } };
  return { baseUrl: serviceUrl, http: way === 'an agent' ? { httpAgent: new Agent({ keepAlive: true }) } : {} };
}

/** An application that reaches the service of a row that way. */
async function over(way: (typeof WAYS)[number], trial: Trial, options: Partial<SessionAuthOptions> = {}) {
  const { baseUrl, http } = httpOver(way, trial.service.url);
  const { url, app } = await trial.keepApp({ timeoutMs: trial.timeoutMs, ...options, http: { ...http, ...options.http } }, baseUrl);
  return { url, sessions: app.get(SessionAuthService) };
}

function answerOf(record: object): string[] {
  const body = JSON.stringify(record);
  return [OK, TYPE, `Content-Length: ${body.length}`, '', body];
}

/** A body of so many bytes, each in a chunk of its own. */
function inChunksOfOne(length: number): Script {
  const body = JSON.stringify(ANN).padEnd(length);
  const chunks = body.replace(/[^]/g, '1\r\n$&\r\n');
  return bytesThenSilence(OK, TYPE, 'Transfer-Encoding: chunked', '', `${chunks}0\r\n\r\n`);
}

/** One byte a turn, for ever. */
const drip: Script = (_request, _response, socket) => {
  socket.write([OK, TYPE, 'Transfer-Encoding: chunked', '', ''].join('\r\n'));
  writeForever(socket, '1\r\n \r\n');
};

/** The same bytes, one at a time. */
const bytewise =
  (...lines: string[]): Script =>
  (_request, _response, socket) =>
    void writeBytes(socket, lines.join('\r\n'));

function writeForever(socket: Socket, text: string): void {
  if (!socket.destroyed) socket.write(text, () => setImmediate(writeForever, socket, text));
}

async function writeBytes(socket: Socket, text: string): Promise<void> {
  socket.setNoDelay(true);
  for (const char of text) await new Promise<void>((written) => void socket.write(char, () => setImmediate(written)));
}

describe.each(oneOf(PLATFORMS))('replies on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row('a reply in chunks of one byte is read up to the limit, and not beyond it [P12]', async (trial) => {
    for (const way of WAYS) {
      for (const maxResponseBytes of oneOf([1_048_576, 65_536])) {
        const { url } = await over(way, trial, { timeoutMs: 60_000, http: { maxResponseBytes } });
        trial.service.on('user_details', inChunksOfOne(maxResponseBytes));
        expect(await trial.status({ at: url })).toBe(200);
        trial.service.on('user_details', inChunksOfOne(maxResponseBytes + 1));
        expect(await trial.status({ at: url })).toBe(503);
      }
    }
  });

  row(
    'a reply that drips, one byte a chunk, becomes 503 when the total time is over [P12]',
    async (trial) => {
      trial.service.on('user_details', drip);
      for (const way of WAYS) {
        const { url } = await over(way, trial, { http: { maxResponseBytes: 1_048_576 } });
        expect(await trial.status({ at: url })).toBe(503);
      }
    },
    { options: { timeoutMs: 400 } },
  );

  row('interim replies before the reply, one or many, whole or in pieces, change nothing [P18]', async (trial) => {
    const replies: ((record: object) => Script)[] = [
      (record) => (request, response, socket) => {
        response.writeContinue();
        response.writeEarlyHints({ link: '</style.css>; rel=preload' });
        setImmediate(() => json(record)(request, response, socket));
      },
      (record) => bytesThenSilence(...CONTINUE, ...answerOf(record)),
      (record) => bytesThenSilence(...HINTS, ...CONTINUE, ...CONTINUE, ...HINTS, ...CONTINUE, ...answerOf(record)),
      (record) => bytewise(...CONTINUE, ...CONTINUE, ...answerOf(record)),
    ];
    for (const way of WAYS) {
      const { url, sessions } = await over(way, trial);
      for (const answer of replies) {
        trial.service.on('user_details', answer(ANN));
        trial.service.on('sign_in', answer({ ...ANN, auth_token: TOKEN }));
        trial.service.on('sign_out', answer({}));
        expect([await trial.status({ at: url }), await trial.status({ at: url })]).toEqual([200, 200]);
        expect((await sessions.signIn({ username: 'ann', password: PASSWORD })).kind).toBe('signed-in');
        await sessions.signOut(TOKEN);
      }
    }
  });

  row(
    'interim replies and then nothing, or interim replies for ever, become 503 in time [P18]',
    async (trial) => {
      const forever: Script = (_request, _response, socket) => writeForever(socket, [...CONTINUE, ''].join('\r\n'));
      for (const way of WAYS) {
        const { url, sessions } = await over(way, trial, { signInTimeoutMs: 400, signOutTimeoutMs: 400 });
        for (const script of [bytesThenSilence(...CONTINUE, ''), bytesThenSilence(...HINTS, ...CONTINUE, 'HTTP/1.1 1'), forever]) {
          for (const operation of ['user_details', 'sign_in', 'sign_out'] as const) trial.service.on(operation, script);
          expect(await trial.status({ at: url })).toBe(503);
          const thrown = [sessions.signIn({ username: 'ann', password: PASSWORD }), sessions.signOut(TOKEN)].map((call) =>
            trial.thrownBy(call),
          );
          expect(await Promise.all(thrown)).toMatchObject([{ statusCode: 503 }, { statusCode: 503 }]);
        }
      }
    },
    { options: { timeoutMs: 400, breaker: false } },
  );

  row('a switch of protocols is no reply: 503 [P18]', async (trial) => {
    for (const way of WAYS) {
      const { url } = await over(way, trial);
      for (const headers of [[], ['Connection: Upgrade', 'Upgrade: websocket']]) {
        trial.service.on('user_details', bytesThenSilence('HTTP/1.1 101 Switching Protocols', ...headers, '', ...answerOf(ANN)));
        expect(await trial.status({ at: url })).toBe(503);
      }
    }
  });
});
