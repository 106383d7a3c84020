import type { IncomingMessage } from 'node:http';
import { unavailable } from '../../contract/outcome.js';
import { bodyOf } from '../../exceptions/denial-body.js';
import { type GuardDenial, reportDenial, unavailableDenial } from '../../guard/denial.js';
import { handshakeRequest, type SocketClient, storeUpgrade } from '../../guard/sockets/socket-client.js';
import type { CallRequest } from '../../guard/transport.js';
import type { AcceptedHandshake } from './handshake-checks.js';
import type { SocketAuthorities, UnassignedHandshake } from './socket-authorities.js';
import type { SocketAuthority } from './socket-authority.js';
import type { SocketWatchSettings } from './socket-options.js';
import { chainVerifyClient, type Answer, type WsServer } from './ws-server.js';

/** How the check of a handshake has ended, and the registration that checked it. */
interface Settled {
  readonly outcome: AcceptedHandshake | GuardDenial;
  readonly authority: SocketAuthority;
}

/** Ends the check of a client that is gone. Never sent. */
const NOT_SENT = unavailableDenial(unavailable('busy', 1));

/**
 * Checks ws sockets while they are still HTTP requests. The server passes the request of a handshake to `connection`, so the request object binds a
 * socket to its verdict, and no data of the client does.
 */
export class WsHandshakes {
  readonly #authorities: SocketAuthorities;
  readonly #accepted = new WeakMap<IncomingMessage, AcceptedHandshake & { readonly authority: SocketAuthority }>();

  constructor(authorities: SocketAuthorities) {
    this.#authorities = authorities;
  }

  /** Checks every handshake of a server. Reads `settings` at each handshake. */
  protect(server: WsServer, settings: () => SocketWatchSettings): void {
    chainVerifyClient(server.options, (request, answer) => this.#check(request, settings(), answer));
    // Runs before the listeners of gateways, so that they find the user.
    server.prependListener('connection', (client, request) => this.#opened(client, request, settings()));
  }

  /** Answers a handshake, unless its connection closes first. Closes a connection whose client has ended its side. */
  #check(request: IncomingMessage, settings: SocketWatchSettings, answer: Answer): void {
    const { socket } = request;
    const handshake = handshakeRequest(request);
    const gone = (): void => void socket.destroy();
    const closed = (): void => pending?.end(NOT_SENT);
    const settle: UnassignedHandshake['settle'] = (outcome, authority) => {
      socket.removeListener('close', closed).removeListener('end', gone);
      if (!socket.destroyed) this.#answer(request, handshake, { outcome, authority }, answer);
    };
    const pending = this.#authorities.begin({ client: request, request: handshake, settings, settle });
    if (pending) socket.once('close', closed).once('end', gone);
  }

  #answer(request: IncomingMessage, handshake: CallRequest, { outcome, authority }: Settled, answer: Answer): void {
    if ('verdict' in outcome) {
      this.#accepted.set(request, { ...outcome, authority });
      open(request, answer);
    } else {
      reportDenial(outcome, authority.parts.authority);
      const fixed = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };
      answer(false, outcome.statusCode, JSON.stringify(bodyOf(outcome)), {
        ...fixed,
        ...Object.fromEntries(authority.checks.challenges.headersOf(outcome, handshake)),
      });
    }
  }

  #opened(client: SocketClient & { terminate(): void }, request: IncomingMessage, settings: SocketWatchSettings): void {
    const accepted = this.#accepted.get(request);
    if (!accepted) {
      client.terminate();
      return;
    }
    this.#accepted.delete(request);
    storeUpgrade(client, request);
    const socket = this.#authorities.watch(accepted.authority, client, accepted.session, settings);
    socket.opened();
    socket.admit(accepted.verdict);
  }
}

/** Runs code of the application, such as `handleProtocols`. An exception closes the connection, and does not end the process. */
function open({ socket }: IncomingMessage, answer: Answer): void {
  try {
    answer(true);
  } catch {
    socket.destroy();
  }
}
