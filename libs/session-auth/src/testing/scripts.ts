import { EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Answers with a status, a body and headers. */
export function reply(
  status: number,
  body: string | Buffer = '',
  headers: Readonly<Record<string, string>> = {},
): Script {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

/** Answers 200 with JSON. */
export function json(value: unknown): Script {
  return reply(200, JSON.stringify(value), { 'content-type': 'application/json' });
}

/** Never answers, and keeps the connection open. */
export const silence: Script = () => undefined;

/** Resets the connection without a reply. */
export const drop: Script = (_request, _response, socket) => void socket.resetAndDestroy();

/** Runs the scripts in turn, one per request, and the last one for all later requests. */
export function inTurn(...scripts: readonly [Script, ...Script[]]): Script {
  let calls = 0;
  return (...call) => scripts[Math.min(calls++, scripts.length - 1)]?.(...call);
}

/** Runs a script after `ms` milliseconds. */
export function afterDelay(ms: number, answer: Script): Script {
  return (...call) => void setTimeout(() => answer(...call), ms).unref();
}

/** A reply that waits for `release()`. */
export interface HeldScript {
  /** Script to pass to `service.on()`. */
  readonly script: Script;
  /** Resolves when the first request arrives. */
  readonly arrived: Promise<void>;
  /** Answers the requests that wait, and all later ones. */
  release(): void;
}

/** Holds every request until `release()`, and then runs a script. */
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

/** Operations of the session service (section 4). */
export type Operation = 'user_details' | 'sign_in' | 'sign_out';

/** One request that the session service received. */
export interface SeenRequest {
  /** Operation; `undefined` if the interface has no such path or method. */
  readonly operation: Operation | undefined;
  /** Method, in capitals. */
  readonly method: string;
  /** Path and query, as in the request line. */
  readonly path: string;
  /** Headers, with lower-case names. */
  readonly headers: IncomingHttpHeaders;
  /** Names and values of the headers, alternating, as received. */
  readonly rawHeaders: readonly string[];
  /** The first MiB of the body, as UTF-8. Empty without a body. */
  readonly body: string;
  /** Port of the client, which identifies the connection. */
  readonly remotePort: number | undefined;
}

/**
 * Handles a request to the session service. `socket` can send what a `ServerResponse` can't, such as invalid
 * HTTP.
 */
export type Script = (request: SeenRequest, response: ServerResponse, socket: Socket) => void;
