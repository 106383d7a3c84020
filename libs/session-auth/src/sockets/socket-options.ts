import type { WhileOpen } from '../guard/transport.js';

/**
 * Options of watched sockets. A value out of range is set to the nearest limit. The defaults are the values of
 * the option `whileOpen`.
 */
export interface SessionSocketOptions {
  /** Milliseconds between two checks of the session; each runs up to a tenth earlier. 1 to 86 400 000. */
  readonly recheckMs?: number;
  /** Milliseconds that a socket stays open while the session service is unavailable. 0 to 86 400 000. */
  readonly outageGraceMs?: number;
}

const DAY_MS = 86_400_000;

export function watchSettings(
  { recheckMs, outageGraceMs }: SessionSocketOptions,
  defaults: WhileOpen,
): WhileOpen {
  return {
    recheckMs: within(1, recheckMs, defaults.recheckMs),
    outageGraceMs: within(0, outageGraceMs, defaults.outageGraceMs),
  };
}

function within(min: number, value: number | undefined, fallback: number): number {
  return value === undefined || Number.isNaN(value) ? fallback : Math.min(DAY_MS, Math.max(min, value));
}

/**
 * The request that opened a socket, as `handleConnection` of a ws gateway receives it. If the object is not a
 * request of Node.js, the library reads no cookie from it, only a token.
 */
export interface SocketUpgrade {
  /** Headers of the request, under their lower-case names. */
  readonly headers: object;
}

/** Numbers of sockets. */
export interface SocketCounts {
  /** Number of open sockets that are watched. */
  readonly watched: number;
  /** Number of handshakes whose check has not ended. */
  readonly waiting: number;
}
