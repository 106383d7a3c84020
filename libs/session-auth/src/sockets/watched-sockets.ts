import { type SessionIdentity, sessionKeysOf, tokenKeyOf } from '../contract/session-identity.js';
import type { GuardParts } from '../guard/guard-parts.js';
import type { SocketClient } from '../guard/socket-client.js';
import { SessionRechecks, WatchedSocket } from './watched-socket.js';
import { SessionIndex } from './session-index.js';
import type { SocketWatchSettings } from './socket-options.js';
import { verifyForSocket } from './handshake-checks.js';

/** The watched sockets, by client and by session. Sessions are identified by fingerprints only. */
export class WatchedSockets {
  readonly index = new SessionIndex<WatchedSocket>();
  readonly #parts: Pick<GuardParts, 'verifier' | 'ends'>;
  /** By session and interval. */
  readonly #rechecks = new Map<string, SessionRechecks>();
  readonly #ofClient = new WeakMap<
    object,
    { readonly socket: WatchedSocket; readonly fingerprint: string }
  >();

  constructor(parts: Pick<GuardParts, 'verifier' | 'ends'>) {
    this.#parts = parts;
  }

  /** Returns the watched socket of a client; `undefined` if the client is not watched, or no longer. */
  of(client: object): WatchedSocket | undefined {
    return this.#ofClient.get(client)?.socket;
  }

  /** Returns the fingerprint of the session that a client's socket is watched for. */
  ownerOf(client: object): string | undefined {
    return this.#ofClient.get(client)?.fingerprint;
  }

  /** Watches a socket. Adds it before its check, because its session may end during the check. */
  add(client: SocketClient, session: SessionIdentity, settings: SocketWatchSettings): WatchedSocket {
    const fingerprint = this.#parts.ends.fingerprintOf(tokenKeyOf(session.token));
    const { recheckMs, outageGraceMs } = settings;
    const key = `${recheckMs} ${sessionKeysOf(session).sessionKey}`;
    const rechecks = this.#rechecksOf(key, session, recheckMs);
    const over = (): void => {
      this.#ofClient.delete(client);
      this.index.delete(fingerprint, socket);
      if (rechecks.remove(socket) && this.#rechecks.get(key) === rechecks) this.#rechecks.delete(key);
    };
    const socket = new WatchedSocket(client, rechecks, { outageGraceMs, over });
    this.#ofClient.set(client, { socket, fingerprint });
    this.index.add(fingerprint, socket);
    return socket;
  }

  #rechecksOf(key: string, session: SessionIdentity, recheckMs: number): SessionRechecks {
    const existing = this.#rechecks.get(key);
    if (existing) return existing;
    const rechecks = new SessionRechecks(session, {
      verify: (identity) => verifyForSocket(this.#parts.verifier, identity),
      recheckMs,
    });
    this.#rechecks.set(key, rechecks);
    return rechecks;
  }
}
