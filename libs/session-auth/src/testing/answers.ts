import type { Script } from './script.js';

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
