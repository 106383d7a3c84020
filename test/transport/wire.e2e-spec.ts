import { describe, expect } from '@jest/globals';
import type { Socket } from 'node:net';
import type { Script, SeenRequest } from 'nestjs-session-auth/testing';
import { platforms, type RunningApp } from '../support/platforms.js';
import { rowsOn } from '../support/trial/row.js';
import type { Trial } from '../support/trial/trial.js';
import { TRANSPORTS } from '../support/transports.js';

const OK = 'HTTP/1.1 200 OK';
const TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';
const CONTINUE = ['HTTP/1.1 100 Continue', ''];

/** One byte a turn, forever. */
const drip: Script = (_request, _response, socket) => {
  socket.write([OK, TYPE, CHUNKED, '', ''].join('\r\n'));
  writeForever(socket, '1\r\n \r\n');
};

function writeForever(socket: Socket, text: string): void {
  if (!socket.destroyed) socket.write(text, () => setImmediate(writeForever, socket, text));
}

describe.each(platforms('Express'))('replies on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'a reply that drips, one byte a chunk, and interim replies forever become 503 at the deadline [P12] [P18]',
    async (trial) => {
      const forever: Script = (_request, _response, socket) =>
        writeForever(socket, [...CONTINUE, ''].join('\r\n'));
      for (const [, http] of TRANSPORTS) {
        const { url } = await trial.keepApp({ timeoutMs: 400, breaker: false, http: http() });
        for (const script of [drip, forever]) {
          trial.service.on('user_details', script);
          expect(await trial.status({ at: url })).toBe(503);
        }
      }
    },
    { options: { timeoutMs: 400 } },
  );
});

const [USER, BOB] = ['token-of-ann', 'token-of-bob'];
const USERS: Readonly<Record<string, string>> = { [USER]: 'ann', [BOB]: 'bob' };

/** The record of a token, without the token or with it. */
const nameless = (token: string) => ({ username: USERS[token] ?? 'carl', role: 'hiring_manager' });
const named = (token: string) => ({ ...nameless(token), auth_token: token });

const tokenOf = ({ headers }: SeenRequest): string => String(headers['x-auth-token']);

function replyWith(record: object): string {
  const body = JSON.stringify(record);
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Answers each caller, and records which connections were used. */
function service(answer: (token: string, socket: Socket) => string) {
  const sockets: Socket[] = [];
  const script: Script = (request, _response, socket) => {
    if (!sockets.includes(socket)) sockets.push(socket);
    socket.write(answer(tokenOf(request), socket));
  };
  return { script, sockets };
}

describe.each(platforms('Express'))('a desynchronised connection on %s', (_name, platform) => {
  const row = rowsOn(platform);

  /** Rows for each way to the service, with a connection that every call uses. */
  const rows = (name: string, body: (trial: Trial, app: RunningApp) => Promise<void>): void => {
    for (const [way, http] of TRANSPORTS)
      row(`over ${way}, ${name}`, async (trial) =>
        body(trial, await trial.keepApp({ maxInFlight: 1, timeoutMs: 5_000, http: http() })),
      );
  };
  const userAt = async (trial: Trial, { url }: RunningApp, token: string): Promise<string> => {
    const { status, body } = await trial.ask({ at: url, token, iv: null });
    return status === 200 ? (JSON.parse(body) as { username: string }).username : String(status);
  };

  rows('of two answers to one request the second reaches no caller [P19]', async (trial, app) => {
    for (const recordOf of [named, nameless]) {
      trial.service.on(
        'user_details',
        service((token) => replyWith(recordOf(token)) + replyWith(recordOf(USER))).script,
      );
      expect([
        await userAt(trial, app, USER),
        await userAt(trial, app, BOB),
        await userAt(trial, app, BOB),
      ]).toEqual(['ann', 'bob', 'bob']);
    }
  });

  rows('an answer without a request in flight reaches no caller [P19]', async (trial, app) => {
    for (const recordOf of [named, nameless]) {
      const { script, sockets } = service((token) => replyWith(recordOf(token)));
      trial.service.on('user_details', script);
      for (let round = 0; round < 20; round += 1) {
        expect(await userAt(trial, app, USER)).toBe('ann');
        const socket = sockets.at(-1);
        if (socket?.writable)
          await new Promise<void>((written) => void socket.write(replyWith(recordOf(USER)), () => written()));
        expect(await userAt(trial, app, BOB)).toBe('bob');
      }
    }
  });

  rows(
    'an answer that comes before another one, to the next request, is 503 when it names its caller [P19]',
    async (trial, app) => {
      const late = service(
        (token, socket) =>
          (late.sockets.indexOf(socket) === 0 && token === BOB ? replyWith(named(USER)) : '') +
          replyWith(named(token)),
      );
      trial.service.on('user_details', late.script);
      expect([
        await userAt(trial, app, USER),
        await userAt(trial, app, BOB),
        await userAt(trial, app, BOB),
      ]).toEqual(['ann', '503', 'bob']);
    },
  );

  rows(
    'a reply within a reply reaches no caller: behind its length, behind its last chunk, between two framings [P19]',
    async (trial, app) => {
      const hidden = replyWith(nameless(USER));
      const reply = (...lines: string[]): string => [OK, TYPE, ...lines].join('\r\n');
      const chunks = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n${hidden}`;
      const length = (text: string): string => `Content-Length: ${text.length}`;
      const framings: ((body: string) => string)[] = [
        (body) => reply(CHUNKED, '', chunks(body)),
        (body) => reply(CHUNKED, length(body), '', chunks(body)),
        (body) => reply(length(body), CHUNKED.replace(':', ' :'), '', body + hidden),
        (body) => reply('Content-Length: 0', length(hidden), '', hidden, body),
        (body) => ['HTTP/1.1 204 No Content', length(hidden), '', hidden, body].join('\r\n'),
        (body) => ['HTTP/1.1 304 Not Modified', '', hidden + body].join('\r\n'),
      ];
      for (const framing of framings) {
        trial.service.on(
          'user_details',
          service((token) =>
            token === BOB ? replyWith(nameless(BOB)) : framing(JSON.stringify(nameless(token))),
          ).script,
        );
        for (let round = 0; round < 3; round += 1) {
          expect(['503', 'carl']).toContain(await userAt(trial, app, 'token-of-carl'));
          expect(['503', 'bob']).toContain(await userAt(trial, app, BOB));
        }
      }
    },
  );
});
