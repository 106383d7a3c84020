import type { Script } from 'nestjs-session-auth/testing';

/**
 * Sends these lines unchanged, whether or not they are valid HTTP, one byte per character, and ends its side
 * of the connection.
 */
export function bytes(...lines: readonly string[]): Script {
  return (_request, _response, socket) => void socket.end(onTheWire(lines));
}

/** Sends these lines unchanged and nothing more. The connection stays open. */
export function bytesThenSilence(...lines: readonly string[]): Script {
  return (_request, _response, socket) => void socket.write(onTheWire(lines));
}

function onTheWire(lines: readonly string[]): Buffer {
  return Buffer.from(lines.join('\r\n'), 'latin1');
}
