import type { Socket } from 'node:net';
import { describe, expect } from '@jest/globals';
import type { Script, SeenRequest } from 'nestjs-session-auth/testing';
import { oneOf } from '../support/long-form.js';
import { PLATFORMS, type RunningApp } from '../support/platforms.js';
import { TRANSPORTS } from '../support/transports.js';
import { rowsOn } from '../support/trial/row.js';
import type { Trial } from '../support/trial/trial.js';

const [ANN, BOB] = ['token-of-ann', 'token-of-bob'];
const USERS: Readonly<Record<string, string>> = { [ANN]: 'ann', [BOB]: 'bob' };

/** The record of a token, with the token or without. */
type RecordOf = (token: string) => object;
const named: RecordOf = (token) => ({ username: USERS[token] ?? 'carl', role: 'hiring_manager', auth_token: token });
const nameless: RecordOf = (token) => ({ username: USERS[token] ?? 'carl', role: 'hiring_manager' });

const tokenOf = ({ headers }: SeenRequest): string => String(headers['x-auth-token']);

function replyWith(record: object): string {
  const body = JSON.stringify(record);
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Answers each caller, and tells which connections were used. */
function service(answer: (token: string, socket: Socket) => string) {
  const sockets: Socket[] = [];
  const script: Script = (request, _response, socket) => {
    if (!sockets.includes(socket)) sockets.push(socket);
    socket.write(answer(tokenOf(request), socket));
  };
  return { script, sockets };
}

describe.each(oneOf(PLATFORMS))('a desynchronised connection on %s', (_name, platform) => {
  const row = rowsOn(platform);

  /** Rows for each way to the service, with a connection that every call uses. */
  const rows = (name: string, body: (trial: Trial, app: RunningApp) => Promise<void>): void => {
    for (const [way, http] of TRANSPORTS)
      row(`over ${way}, ${name}`, async (trial) => body(trial, await trial.keepApp({ maxInFlight: 1, timeoutMs: 5_000, http: http() })));
  };
  const userAt = async (trial: Trial, { url }: RunningApp, token: string): Promise<string> => {
    const { status, body } = await trial.ask({ at: url, token, iv: null });
    return status === 200 ? (JSON.parse(body) as { username: string }).username : String(status);
  };

  rows('an answer with the token of another caller is 503, and one log line a minute says what to do [P19]', async (trial, app) => {
    trial.service.on('user_details', service(() => replyWith(named(BOB))).script);
    expect([await userAt(trial, app, ANN), await userAt(trial, app, 'token-of-eve'), await userAt(trial, app, BOB)]).toEqual([
      '503',
      '503',
      'bob',
    ]);
    const lines = trial.log.lines.filter((line) => line.includes('token mismatch'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("tokenEcho: 'warn'");
  });

  rows('of two answers to one request the second reaches nobody [P19]', async (trial, app) => {
    for (const recordOf of [named, nameless]) {
      trial.service.on('user_details', service((token) => replyWith(recordOf(token)) + replyWith(recordOf(ANN))).script);
      expect([await userAt(trial, app, ANN), await userAt(trial, app, BOB), await userAt(trial, app, BOB)]).toEqual(['ann', 'bob', 'bob']);
    }
  });

  rows('an answer that comes while no request waits reaches nobody [P19]', async (trial, app) => {
    for (const recordOf of [named, nameless]) {
      const { script, sockets } = service((token) => replyWith(recordOf(token)));
      trial.service.on('user_details', script);
      for (let round = 0; round < 20; round += 1) {
        expect(await userAt(trial, app, ANN)).toBe('ann');
        const socket = sockets.at(-1);
        if (socket?.writable) await new Promise<void>((written) => void socket.write(replyWith(recordOf(ANN)), () => written()));
        expect(await userAt(trial, app, BOB)).toBe('bob');
      }
    }
  });

  rows('an answer that comes before another one, to the next request, is 503 when it names its caller [P19]', async (trial, app) => {
    const late = service(
      (token, socket) => (late.sockets.indexOf(socket) === 0 && token === BOB ? replyWith(named(ANN)) : '') + replyWith(named(token)),
    );
    trial.service.on('user_details', late.script);
    expect([await userAt(trial, app, ANN), await userAt(trial, app, BOB), await userAt(trial, app, BOB)]).toEqual(['ann', '503', 'bob']);
  });

  row('a connection on which each answer is that of the request before is not used again [P19]', async (trial) => {
    const app = await trial.keepApp({ maxInFlight: 1, timeoutMs: 5_000 });
    let before = ANN;
    const shifted = service((token, socket) => {
      const answered = shifted.sockets.indexOf(socket) === 0 ? before : token;
      before = token;
      return replyWith(named(answered));
    });
    trial.service.on('user_details', shifted.script);
    const users = [await userAt(trial, app, ANN), await userAt(trial, app, BOB), await userAt(trial, app, 'token-of-carl')];
    expect(users).toEqual(['ann', '503', 'carl']);
  });

  rows(
    'a reply within a reply reaches nobody: behind its length, behind its last chunk, between two framings [P19]',
    async (trial, app) => {
      const hidden = replyWith(nameless(ANN));
      const body = (token: string): string => JSON.stringify(nameless(token));
      const head = ['HTTP/1.1 200 OK', 'Content-Type: application/json'];
      const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
      const framings: ((token: string) => string)[] = [
        (token) => [...head, 'Transfer-Encoding: chunked', '', `${chunk(body(token))}0\r\n\r\n${hidden}`].join('\r\n'),
        (token) =>
          [
            ...head,
            'Transfer-Encoding: chunked',
            `Content-Length: ${body(token).length}`,
            '',
            `${chunk(body(token))}0\r\n\r\n${hidden}`,
          ].join('\r\n'),
        (token) => [...head, `Content-Length: ${body(token).length}`, 'Transfer-Encoding : chunked', '', body(token) + hidden].join('\r\n'),
        (token) => [...head, 'Content-Length: 0', `Content-Length: ${hidden.length}`, '', hidden, body(token)].join('\r\n'),
        (token) => [`HTTP/1.1 204 No Content`, `Content-Length: ${hidden.length}`, '', hidden, body(token)].join('\r\n'),
        (token) => ['HTTP/1.1 304 Not Modified', '', hidden + body(token)].join('\r\n'),
      ];
      for (const framing of framings) {
        trial.service.on('user_details', service((token) => (token === BOB ? replyWith(nameless(BOB)) : framing(token))).script);
        for (let round = 0; round < 3; round += 1) {
          expect(['503', 'carl']).toContain(await userAt(trial, app, 'token-of-carl'));
          expect(['503', 'bob']).toContain(await userAt(trial, app, BOB));
        }
      }
    },
  );
});
