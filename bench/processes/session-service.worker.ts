import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userJson } from '../users.js';
import { serve } from './serve.js';

/** A session service that does nothing but answer and count, so that it is never what a benchmark waits for. */
const callsByKind: Record<string, number> = {};
/** Requests beyond the workers wait, as in a service with so many connections to its database. */
const waiting: (() => void)[] = [];
let busy = 0;
let workers = Infinity;
let latencyMs = 0;

const server = createServer((request, response) => {
  request.resume();
  if (latencyMs === 0) reply(request, response);
  else if (busy < workers) work(() => reply(request, response));
  else waiting.push(() => reply(request, response));
});

function work(answer: () => void): void {
  busy += 1;
  setTimeout(() => {
    busy -= 1;
    const next = waiting.shift();
    if (next) work(next);
    answer();
  }, latencyMs);
}
server.keepAliveTimeout = 600_000;
server.maxRequestsPerSocket = 0;

function reply({ method, headers }: IncomingMessage, response: ServerResponse): void {
  const token = method === 'GET' ? String(headers['x-auth-token']) : 'user.introspected';
  const [kind = '', number = ''] = token.split('.');
  callsByKind[kind] = (callsByKind[kind] ?? 0) + 1;
  if (!kind.startsWith('user')) {
    response.writeHead(401, { 'Content-Length': 0 }).end();
    return;
  }
  const body = method === 'GET' ? userJson(Number(number), token) : '{"active":true,"username":"ann","token_type":"Bearer"}';
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body);
}

const handlers = {
  /** Starts listening; the latency holds for every reply, and so many requests are worked on at a time. */
  start: async (settings: { latencyMs: number; workers?: number }): Promise<string> => {
    latencyMs = settings.latencyMs;
    workers = settings.workers ?? Infinity;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 8_192, resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
