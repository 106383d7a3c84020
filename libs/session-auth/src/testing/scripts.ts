import { EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Answers with a status, a body and headers. */
export function reply(status: number, body: string | Buffer = '', headers: Readonly<Record<string, string>> = {}): Script {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

/** Answers 200 with JSON. */
export function json(value: unknown): Script {
  return reply(200, JSON.stringify(value), { 'content-type': 'application/json' });
}

/** Never answers, and keeps the connection open. */
export const silence: Script = () => undefined;

/** Resets the connection without an answer. */
export const drop: Script = (_request, _response, socket) => void socket.resetAndDestroy();

/** Ends its side of the connection without an answer, and goes on reading. */
export const halfClose: Script = (_request, _response, socket) => void socket.end();

/** Answers with these lines as they are, well-formed HTTP or not, one byte a character, and ends its side of the connection. */
export function bytes(...lines: readonly string[]): Script {
  return (_request, _response, socket) => void socket.end(onTheWire(lines));
}

/** Sends these lines as they are, and resets the connection. */
export function bytesThenReset(...lines: readonly string[]): Script {
  return (_request, _response, socket) => void socket.write(onTheWire(lines), () => socket.resetAndDestroy());
}

/** Sends these lines as they are, and nothing more: the connection stays open. */
export function bytesThenSilence(...lines: readonly string[]): Script {
  return (_request, _response, socket) => void socket.write(onTheWire(lines));
}

function onTheWire(lines: readonly string[]): Buffer {
  return Buffer.from(lines.join('\r\n'), 'latin1');
}

/** Answers in turn: each script once, and the last one from then on. */
export function inTurn(...scripts: readonly [Script, ...Script[]]): Script {
  let calls = 0;
  return (...call) => scripts[Math.min(calls++, scripts.length - 1)]?.(...call);
}

/** Waits some milliseconds, and then answers. */
export function afterDelay(ms: number, answer: Script): Script {
  return (...call) => void setTimeout(() => answer(...call), ms).unref();
}

/** An answer that waits until the test lets it go. */
export interface HeldScript {
  /** What to give to `service.on()`. */
  readonly script: Script;
  /** Resolves when the first request is there. */
  readonly arrived: Promise<void>;
  /** Answers the requests that wait, and those to come. */
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

/** What can be asked of the session service (section 4). */
export type Operation = 'user_details' | 'sign_in' | 'sign_out';

/** One request as it reached the session service. */
export interface SeenRequest {
  /** What it asks for; `undefined` where the interface has no such path or method. */
  readonly operation: Operation | undefined;
  /** Method, in capitals. */
  readonly method: string;
  /** Path with query, as it stood in the request line. */
  readonly path: string;
  /** Headers under their lower-case names. */
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** The whole body, as UTF-8; empty when there was none. */
  readonly body: string;
  /** Tells one connection from another. */
  readonly remotePort: number | undefined;
}

/** What the session service does with a request. The socket is there for what HTTP would not let a response do. */
export type Script = (request: SeenRequest, response: ServerResponse, socket: Socket) => void;
