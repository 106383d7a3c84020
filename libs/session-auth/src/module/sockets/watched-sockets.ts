import type { SessionIdentity } from '../../contract/session-identity.js';
import type { GuardParts } from '../../guard/guard-parts.js';
import type { SocketClient } from '../../guard/sockets/socket-client.js';
import { WatchedSocket } from '../../guard/sockets/watched-socket.js';
import type { SessionAuthEvents } from '../events/session-auth-events.js';
import { SessionIndex } from './session-index.js';
import type { SocketWatchSettings } from './socket-options.js';
import { verifyForSocket } from './handshake-checks.js';

/** The watched sockets, by client and by session. Sessions are identified by fingerprints only. */
export class WatchedSockets {
  readonly index = new SessionIndex<WatchedSocket>();
  readonly #verifier: GuardParts['verifier'];
  readonly #events: SessionAuthEvents;
  readonly #ofClient = new WeakMap<object, { readonly socket: WatchedSocket; readonly fingerprint: string }>();

  constructor({ verifier }: GuardParts, events: SessionAuthEvents) {
    this.#verifier = verifier;
    this.#events = events;
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
    const fingerprint = this.#events.fingerprintOf(session.token);
    const socket = new WatchedSocket(client, session, {
      ...settings,
      verify: (identity) => verifyForSocket(this.#verifier, identity),
      over: () => {
        this.#ofClient.delete(client);
        this.index.delete(fingerprint, socket);
      },
    });
    this.#ofClient.set(client, { socket, fingerprint });
    this.index.add(fingerprint, socket);
    return socket;
  }
}
