/** How `SessionSockets` watches a socket. A value out of its range counts as the nearest in it. */
export interface SessionSocketOptions {
  /** Milliseconds between two checks of the session; each comes up to a tenth earlier. 1 to 86 400 000. @default 60000 */
  readonly recheckMs?: number;
  /** Milliseconds that a socket stays open while the session service can't say. 0 to 86 400 000. @default 300000 */
  readonly outageGraceMs?: number;
}

/** The options with their defaults in place. */
export type SocketWatchSettings = Required<SessionSocketOptions>;

const DAY_MS = 86_400_000;

/** Puts the defaults in place, and every value into its range. */
export function watchSettings({ recheckMs, outageGraceMs }: SessionSocketOptions): SocketWatchSettings {
  return { recheckMs: within(1, recheckMs, 60_000), outageGraceMs: within(0, outageGraceMs, 300_000) };
}

function within(min: number, value: number | undefined, fallback: number): number {
  return value === undefined || Number.isNaN(value) ? fallback : Math.min(DAY_MS, Math.max(min, value));
}

/** The request that opened a socket, as `handleConnection` of a gateway on ws gets it. */
export interface SocketUpgrade {
  /** Headers of the request, under their lower-case names. */
  readonly headers: object;
}

/** How many sockets there are. */
export interface SocketCounts {
  /** Open sockets that are watched. */
  readonly watched: number;
  /** Handshakes that wait for their verdict. */
  readonly waiting: number;
}
