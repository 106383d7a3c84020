import { describe, expect } from '@jest/globals';
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { SessionAuthService, type SessionAuthOptions } from 'nestjs-session-auth';
import type { Script, SeenRequest } from 'nestjs-session-auth/testing';
import { bytesThenSilence } from '../support/byte-scripts.js';
import { platforms, type RunningApp } from '../support/platforms.js';
import { PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Trial } from '../support/trial/trial.js';
import { TRANSPORTS } from '../support/transports.js';

/** Routes to the session service, each with its options. */
const WAYS = ['the built-in pool', 'an agent', 'a proxy'] as const;

const OK = 'HTTP/1.1 200 OK';
const TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';
const CONTINUE = ['HTTP/1.1 100 Continue', ''];
const HINTS = ['HTTP/1.1 103 Early Hints', 'Link: </style.css>; rel=preload', ''];

function httpOver(
  way: (typeof WAYS)[number],
  serviceUrl: string,
): Pick<SessionAuthOptions, 'http'> & { readonly baseUrl: string } {
  const { hostname, port } = new URL(serviceUrl);
  if (way === 'a proxy')
    return {
      baseUrl: 'http://sessions.example.com',
      http: { proxy: { host: hostname, port: Number(port) } },
    };
  return {
    baseUrl: serviceUrl,
    http: way === 'an agent' ? { httpAgent: new Agent({ keepAlive: true }) } : {},
  };
}

/** An application that reaches the service of a row that way. */
async function over(way: (typeof WAYS)[number], trial: Trial, options: Partial<SessionAuthOptions> = {}) {
  const { baseUrl, http } = httpOver(way, trial.service.url);
  const { url, app } = await trial.keepApp(
    { timeoutMs: trial.timeoutMs, ...options, http: { ...http, ...options.http } },
    baseUrl,
  );
  return { url, sessions: app.get(SessionAuthService) };
}

function answerOf(record: object): string[] {
  const body = JSON.stringify(record);
  return [OK, TYPE, `Content-Length: ${body.length}`, '', body];
}

/** A body of a number of bytes, each in a separate chunk. */
function inChunksOfOne(length: number): Script {
  const body = JSON.stringify(ANN).padEnd(length);
  const chunks = body.replace(/[^]/g, '1\r\n$&\r\n');
  return bytesThenSilence(OK, TYPE, CHUNKED, '', `${chunks}0\r\n\r\n`);
}

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

  row('a reply in chunks of one byte is read up to the limit, and not beyond it [P12]', async (trial) => {
    const maxResponseBytes = 65_536;
    for (const way of WAYS) {
      const { url } = await over(way, trial, { timeoutMs: 60_000, http: { maxResponseBytes } });
      trial.service.on('user_details', inChunksOfOne(maxResponseBytes));
      expect(await trial.status({ at: url })).toBe(200);
      trial.service.on('user_details', inChunksOfOne(maxResponseBytes + 1));
      expect(await trial.status({ at: url })).toBe(503);
    }
  });

  row(
    'a reply that drips, one byte a chunk, becomes 503 at the deadline [P12]',
    async (trial) => {
      trial.service.on('user_details', drip);
      for (const way of WAYS) {
        const { url } = await over(way, trial, { http: { maxResponseBytes: 1_048_576 } });
        expect(await trial.status({ at: url })).toBe(503);
      }
    },
    { options: { timeoutMs: 400 } },
  );

  row('interim replies before the reply change nothing [P18]', async (trial) => {
    const answer = (record: object): Script =>
      bytesThenSilence(...HINTS, ...CONTINUE, ...CONTINUE, ...HINTS, ...CONTINUE, ...answerOf(record));
    for (const way of WAYS) {
      const { url, sessions } = await over(way, trial);
      trial.service.on('user_details', answer(ANN));
      trial.service.on('sign_in', answer({ ...ANN, auth_token: TOKEN }));
      trial.service.on('sign_out', answer({}));
      expect([await trial.status({ at: url }), await trial.status({ at: url })]).toEqual([200, 200]);
      expect((await sessions.signIn({ username: 'ann', password: PASSWORD })).kind).toBe('signed-in');
      await sessions.signOut(TOKEN);
    }
  });

  row(
    'interim replies and then nothing, or interim replies forever, become 503 in time [P18]',
    async (trial) => {
      const forever: Script = (_request, _response, socket) =>
        writeForever(socket, [...CONTINUE, ''].join('\r\n'));
      for (const way of WAYS) {
        const { url } = await over(way, trial);
        for (const script of [bytesThenSilence(...HINTS, ...CONTINUE, 'HTTP/1.1 1'), forever]) {
          trial.service.on('user_details', script);
          expect(await trial.status({ at: url })).toBe(503);
        }
      }
    },
    { options: { timeoutMs: 400, breaker: false } },
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

  rows(
    'an answer with the token of another caller is 503, and one log line a minute contains the remedy [P19]',
    async (trial, app) => {
      trial.service.on('user_details', service(() => replyWith(named(BOB))).script);
      expect([
        await userAt(trial, app, USER),
        await userAt(trial, app, 'token-of-eve'),
        await userAt(trial, app, BOB),
      ]).toEqual(['503', '503', 'bob']);
      const lines = trial.log.lines.filter((line) => line.includes('token mismatch'));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain("tokenEcho: 'ignore'");
    },
  );

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

  row(
    'a connection on which each answer is that of the request before is not used again [P19]',
    async (trial) => {
      const app = await trial.keepApp({ maxInFlight: 1, timeoutMs: 5_000 });
      let before = USER;
      const shifted = service((token, socket) => {
        const answered = shifted.sockets.indexOf(socket) === 0 ? before : token;
        before = token;
        return replyWith(named(answered));
      });
      trial.service.on('user_details', shifted.script);
      const users = [
        await userAt(trial, app, USER),
        await userAt(trial, app, BOB),
        await userAt(trial, app, 'token-of-carl'),
      ];
      expect(users).toEqual(['ann', '503', 'carl']);
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
