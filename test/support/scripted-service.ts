import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { EventEmitter, once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';

/** One request as it reached the service. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
  /** Tells one connection from another. */
  readonly remotePort: number | undefined;
}

/** What the service does with a request. */
export type Script = (request: SeenRequest, response: ServerResponse, socket: Socket) => void;

/** A session service that does what a test says, on a free loopback port. */
export interface ScriptedService {
  readonly url: string;
  readonly requests: SeenRequest[];
  /** Sets what user_details, sign-in or sign-out answer from now on. */
  on(operation: Operation, script: Script): void;
  /** Makes a token valid: user_details answers with this record. */
  signInAs(record: Record<string, unknown>, token?: string): string;
  /** Ends a session. */
  revoke(token: string): void;
  callsTo(operation: Operation): number;
  close(): Promise<void>;
}

export type Operation = 'user_details' | 'sign_in' | 'sign_out';

/** Answers with a status, headers and a body. */
export function reply(status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Script {
  return (_request, response) => response.writeHead(status, headers).end(body);
}

/** Answers 200 with JSON. */
export function json(value: unknown): Script {
  return reply(200, JSON.stringify(value), { 'content-type': 'application/json' });
}

/** Never answers. */
export const silence: Script = () => undefined;

/** Drops the connection without an answer. */
export const drop: Script = (_request, _response, socket) => socket.resetAndDestroy();

/** Answers in turn: each script once, and the last one from then on. */
export function inTurn(...scripts: [Script, ...Script[]]): Script {
  let calls = 0;
  return (...call) => scripts[Math.min(calls++, scripts.length - 1)]?.(...call);
}

/** An answer that waits until the test lets it go. */
export interface HeldScript {
  readonly script: Script;
  /** Resolves when the first request is there. */
  readonly arrived: Promise<void>;
  release(): void;
}

/** Holds every request until `release()`, and then answers it. */
export function hold(answer: Script): HeldScript {
  const gate = new EventEmitter();
  const arrived = once(gate, 'arrived').then(() => undefined);
  const released = once(gate, 'released');
  const script: Script = (...call) => {
    gate.emit('arrived');
    void released.then(() => answer(...call));
  };
  return { script, arrived, release: () => void gate.emit('released') };
}

/** Starts a scripted session service. Unscripted, user_details knows the tokens of `signInAs` and refuses others with 401. */
export async function startScriptedService(): Promise<ScriptedService> {
  const requests: SeenRequest[] = [];
  const sessions = new Map<string, Record<string, unknown>>();
  const scripts = new Map<Operation, Script>([
    [
      'user_details',
      (request, response, socket) => {
        const record = sessions.get(String(request.headers['x-auth-token']));
        (record ? json(record) : reply(401))(request, response, socket);
      },
    ],
    ['sign_in', reply(401)],
    ['sign_out', reply(200)],
  ]);
  const server = createServer((incoming, response) => {
    void readRequest(incoming).then((request) => {
      requests.push(request);
      scripts.get(operationOf(request))?.(request, response, incoming.socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    on: (operation, script) => void scripts.set(operation, script),
    signInAs: (record, token = `token-${sessions.size + 1}`) => {
      sessions.set(token, { username: 'ann', auth_token: token, ...record });
      return token;
    },
    revoke: (token) => void sessions.delete(token),
    callsTo: (operation) => requests.filter((request) => operationOf(request) === operation).length,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = '', url = '', headers, rawHeaders, socket } = incoming;
  return { method, path: url, headers, rawHeaders, body: Buffer.concat(chunks).toString(), remotePort: socket.remotePort };
}

function operationOf({ method, path }: SeenRequest): Operation {
  if (path.endsWith('/user_details')) return 'user_details';
  return method === 'POST' ? 'sign_in' : 'sign_out';
}
