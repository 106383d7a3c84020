import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { serve } from './child-serve.js';
import { answerFaultily, answerSoundly, type AnswerFault, type SoundReply } from './faulty-answer.js';
import { API_KEY, isManager, JUNK_MS, JUNK_PREFIX, PASSWORD, TOKEN_PREFIX } from './settings.js';

/** Where to listen, and which sessions had ended before this process began: it is killed and comes back. */
export interface StartOrder {
  readonly port: number;
  readonly ended: readonly string[];
}

const REFUSED: SoundReply = { status: 401, body: '' };
const ended = new Set<string>();
const sockets = new Set<Socket>();
let fault: AnswerFault | 'anything' | undefined;

/** A token names its user, so that the service knows each one that it gave, also in a former life. */
function record(token: string): SoundReply {
  if (!token.startsWith(TOKEN_PREFIX) || ended.has(token)) return REFUSED;
  const username = token.split('.')[1] ?? '';
  const role = isManager(username) ? 'hiring_manager' : 'new_hire_employee';
  return { status: 200, body: JSON.stringify({ username, role, auth_token: token }) };
}

async function signIn(request: IncomingMessage): Promise<SoundReply> {
  const { username, password } = JSON.parse(await text(request)) as Record<string, string>;
  return password === PASSWORD ? record(`${TOKEN_PREFIX}${username}.${randomUUID()}`) : REFUSED;
}

/** Returns the reply of the interface to this request, at the moment of its arrival. */
async function soundReply(request: IncomingMessage): Promise<SoundReply> {
  const { method, headers } = request;
  if (headers['x-api-key'] !== API_KEY) return { status: 403, body: '' };
  if (method === 'POST') return signIn(request);
  const token = String(headers['x-auth-token']);
  if (token.startsWith(JUNK_PREFIX)) await delay(JUNK_MS);
  const { status, body } = record(token);
  if (method !== 'DELETE') return { status, body };
  ended.add(token);
  return { status, body: '' };
}

const server = createServer((request, response) => {
  const { socket } = request;
  soundReply(request).then(
    (sound) =>
      fault === undefined ? answerSoundly(response, sound) : answerFaultily(fault, response, sound, socket),
    () => response.destroy(),
  );
});
server.keepAliveTimeout = 3_000;
server.on('connection', (socket) => {
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
});

/** A client's own end of a connection may lie on the port for a moment. */
async function listen(port: number, attempts = 100): Promise<void> {
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if (attempts === 0) throw error;
    await delay(50);
    await listen(port, attempts - 1);
  }
}

const handlers = {
  /** Listens, on any free port when it is 0; the answer is the port. */
  start: async (order: StartOrder): Promise<number> => {
    for (const token of order.ended) ended.add(token);
    await listen(order.port);
    return (server.address() as AddressInfo).port;
  },
  setFault: (next: AnswerFault | 'anything' | undefined): void => void (fault = next),
  /** Ends a session without a word to the applications. */
  revoke: (token: string): void => void ended.add(token),
  openSockets: (): number => sockets.size,
  stop: async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  },
};

export type SessionServiceApi = typeof handlers;
serve(handlers);
