import type { ExecutionContext, OnModuleDestroy } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { CurrentUserRecord } from '../guard/current-user.decorator.js';
import type { GuardParts } from '../guard/guard-parts.js';
import { TOKEN_REFUSED, TOKEN_REQUIRED } from '../guard/http-denial.js';
import { NO_TOKEN } from '../guard/presented-session.js';
import { payloadOf } from '../guard/transports/denial-payload.js';
import { disconnect, handshakeOf, rememberUpgrade, type SocketClient } from '../guard/transports/socket-client.js';
import { WatchedSocket } from '../guard/watched-socket.js';
import type { SessionAuthEvents } from './session-auth-events.js';

/** How {@link SessionSockets} watches a socket. A value out of its range counts as the nearest in it. */
export interface SessionSocketOptions {
  /** Milliseconds between two checks of the session; each comes up to a tenth earlier. 1 to 86 400 000. @default 60000 */
  readonly recheckMs?: number;
  /** Milliseconds that a socket stays while the session service can't say. 0 to 86 400 000. @default 300000 */
  readonly outageGraceMs?: number;
}

/** The request that opened a socket, as `handleConnection` of a gateway on ws gets it. */
export interface SocketUpgrade {
  /** Headers of the request, under their lower-case names. */
  readonly headers: object;
}

const DAY_MS = 86_400_000;

/**
 * Lets sockets of socket.io and of ws live no longer than their sessions. Call `guard` first thing in `handleConnection`:
 *
 * ```ts
 * handleConnection(client: WebSocket, request: IncomingMessage) {
 *   return this.sockets.guard(client, request);
 * }
 * ```
 */
export class SessionSockets implements OnModuleDestroy {
  readonly #parts: GuardParts;
  readonly #events: SessionAuthEvents;
  readonly #sockets = new WeakMap<SocketClient, WatchedSocket>();
  readonly #ofSession = new Map<string, Set<WatchedSocket>>();

  /** @internal Nest builds it. */
  constructor(parts: GuardParts, events: SessionAuthEvents) {
    this.#parts = parts;
    this.#events = events;
    events.ended$.subscribe((fingerprint) => {
      for (const socket of this.#ofSession.get(fingerprint) ?? []) socket.end(TOKEN_REFUSED);
    });
  }

  /**
   * Checks the session of a socket now, and again every `recheckMs`. A socket without a valid session is disconnected: socket.io gets an
   * `exception` with `statusCode` and `code` before, ws a close frame with 4401, 4403 or 4503 and the `code` as its reason. It is disconnected at
   * once when its session ends (`SessionAuthEvents.ended$`), and stays through an outage of the session service for `outageGraceMs`.
   *
   * A socket of ws doesn't know the request that opened it: without `upgrade` its client has presented nothing, here and to the guard.
   * Never rejects. @returns the user, or `undefined` when the socket was refused or is closed
   */
  guard(client: SocketClient, upgrade?: SocketUpgrade, options: SessionSocketOptions = {}): Promise<CurrentUserRecord | undefined> {
    const known = this.#sockets.get(client);
    if (known) return known.start();
    rememberUpgrade(client, upgrade);
    const session = this.#parts.presented.read(connectionContext(client), handshakeOf(client));
    if (typeof session === 'object') return this.#watch(client, session, options).start();
    disconnect(client, payloadOf(session === NO_TOKEN ? TOKEN_REQUIRED : TOKEN_REFUSED));
    return Promise.resolve(undefined);
  }

  /** The user of a socket, as the last check found it; nobody when the socket is not watched, or was refused. */
  userOf(client: SocketClient): CurrentUserRecord | undefined {
    return this.#sockets.get(client)?.user;
  }

  /** Watches no socket any more. Nest closes them itself. */
  onModuleDestroy(): void {
    for (const sockets of this.#ofSession.values()) for (const socket of sockets) socket.stop();
  }

  /** Known before it is checked, because the session may end meanwhile. */
  #watch(client: SocketClient, session: SessionIdentity, { recheckMs, outageGraceMs }: SessionSocketOptions): WatchedSocket {
    const fingerprint = this.#events.fingerprintOf(session.token);
    const siblings = this.#ofSession.get(fingerprint) ?? new Set();
    const socket = new WatchedSocket(client, {
      verify: () => this.#parts.verifier.verify(session),
      recheckMs: within(1, recheckMs, 60_000),
      outageGraceMs: within(0, outageGraceMs, 300_000),
      over: () => {
        this.#sockets.delete(client);
        siblings.delete(socket);
        if (siblings.size === 0) this.#ofSession.delete(fingerprint);
      },
    });
    this.#sockets.set(client, socket);
    this.#ofSession.set(fingerprint, siblings.add(socket));
    return socket;
  }
}

/** What an application's own token source gets to see of a connection. */
function connectionContext(client: SocketClient): ExecutionContext {
  const context = new ExecutionContextHost([client, undefined, 'connection']);
  context.setType('ws');
  return context;
}

function within(min: number, value: number | undefined, fallback: number): number {
  return value === undefined || Number.isNaN(value) ? fallback : Math.min(DAY_MS, Math.max(min, value));
}
