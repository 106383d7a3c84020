import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { token, userJson } from '../users.js';
import type { Certificate } from '../certificate.js';
import { serve } from './serve.js';

/** How the service answers. */
export interface SessionServiceSettings {
  readonly latencyMs: number;
  /** Each reply takes a random time from `latencyMs` to this. @default latencyMs */
  readonly longestMs?: number;
  /** Answers 500 to an `X-AUTH-IV` that begins with `odd`. @default false */
  readonly failsForOddIv?: boolean;
  /** Requests that are processed at a time. @default Infinity */
  readonly workers?: number;
  /** Absent: the service does not use TLS. */
  readonly certificate?: Certificate;
}

/** A session service that only answers and counts, so that it never limits a benchmark. */
const callsByKind: Record<string, number> = {};
/** The user of all tokens `useraccount`, and of all sign-ins, each of which has such a token. */
const ACCOUNT = 1_000_000;
/** Requests beyond the number of workers wait, as in a service with a pool of database connections. */
const waiting: (() => void)[] = [];
let busy = 0;
let workers = Infinity;
let latencyMs = 0;
let longestMs = 0;
let failsForOddIv = false;
let signIns = 0;

function receive(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  if (latencyMs === 0) reply(request, response);
  else if (busy < workers) work(() => reply(request, response));
  else waiting.push(() => reply(request, response));
}

function work(answer: () => void): void {
  busy += 1;
  setTimeout(
    () => {
      busy -= 1;
      const next = waiting.shift();
      if (next) work(next);
      answer();
    },
    latencyMs + Math.random() * (longestMs - latencyMs),
  );
}

function reply({ method, url, headers }: IncomingMessage, response: ServerResponse): void {
  const presented = method === 'GET' ? String(headers['x-auth-token']) : 'user.introspected';
  const [kind = '', number = ''] = presented.split('.');
  callsByKind[kind] = (callsByKind[kind] ?? 0) + 1;
  if (!kind.startsWith('user')) {
    response.writeHead(401, { 'Content-Length': 0 }).end();
    return;
  }
  if (failsForOddIv && String(headers['x-auth-iv']).startsWith('odd')) {
    response.writeHead(500, { 'Content-Length': 0 }).end();
    return;
  }
  const user = kind === 'useraccount' ? ACCOUNT : Number(number);
  const body =
    method === 'GET'
      ? userJson(user, presented)
      : url?.startsWith('/authentication')
        ? userJson(ACCOUNT, token('useraccount', (signIns += 1)))
        : '{"active":true,"username":"ann","token_type":"Bearer"}';
  response
    .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
    .end(body);
}

const handlers = {
  /**
   * Starts listening, with a latency for every reply and a number of requests that are processed at a time.
   */
  start: async (settings: SessionServiceSettings): Promise<string> => {
    const { certificate } = settings;
    latencyMs = settings.latencyMs;
    longestMs = settings.longestMs ?? latencyMs;
    failsForOddIv = settings.failsForOddIv === true;
    workers = settings.workers ?? Infinity;
    const server: Server = certificate ? createTlsServer(certificate, receive) : createServer(receive);
    server.keepAliveTimeout = 600_000;
    server.maxRequestsPerSocket = 0;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 8_192, resolve));
    return `${certificate ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  },
  /** Changes the time of a reply. */
  answerIn: (milliseconds: number): void => {
    latencyMs = longestMs = milliseconds;
  },
  /** Calls since the last time, by the kind of the token: `user`, `refused`, ... */
  takeCalls: (): Record<string, number> => {
    const taken = { ...callsByKind };
    for (const kind of Object.keys(callsByKind)) callsByKind[kind] = 0;
    return taken;
  },
};

export type SessionServiceApi = typeof handlers;
serve(handlers);
