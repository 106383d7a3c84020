import type { IncomingMessage } from 'node:http';
import { bodyOf, unavailableDenial, type GuardDenial } from '../../guard/denial.js';
import { reportDenial } from '../../guard/denial.js';
import { handshakeRequest } from '../../guard/sockets/socket-client.js';
import { rememberUpgrade, type SocketClient } from '../../guard/sockets/socket-client.js';
import type { AcceptedHandshake, Handshake, HandshakeChecks } from './handshake-checks.js';
import type { SocketWatchSettings } from './socket-options.js';
import type { WatchedSockets } from './watched-sockets.js';
import { chainVerifyClient, type Answer, type WsServer } from './ws-server.js';

/** Ends a check whose client has gone. */
const NOT_SENT = unavailableDenial({ retryAfterSeconds: 1 });

/**
 * Checks sockets of ws while they are still HTTP requests. The server hands the request of a handshake on to `connection`: so the request binds a
 * socket to its verdict, and nothing that the client chooses does.
 */
export class WsHandshakes {
  readonly #checks: HandshakeChecks;
  readonly #watched: WatchedSockets;
  readonly #accepted = new WeakMap<IncomingMessage, AcceptedHandshake>();

  constructor(checks: HandshakeChecks, watched: WatchedSockets) {
    this.#checks = checks;
    this.#watched = watched;
  }

  /** Checks every handshake of a server from now on. `settings` is read at each. */
  protect(server: WsServer, settings: () => SocketWatchSettings): void {
    chainVerifyClient(server.options, (request, answer) => this.#check(request, settings(), answer));
    // Before the listeners of gateways: these find the user.
    server.prependListener('connection', (client, request) => this.#opened(client, request, settings()));
  }

  /** Answers a handshake, unless its connection closes before. A client that has ended its side has gone as well. */
  #check(request: IncomingMessage, settings: SocketWatchSettings, answer: Answer): void {
    const { socket } = request;
    const gone = (): void => void socket.destroy();
    const closed = (): void => pending?.end(NOT_SENT);
    const settle: Handshake['settle'] = (outcome) => {
      socket.removeListener('close', closed).removeListener('end', gone);
      if (!socket.destroyed) this.#answer(request, outcome, answer);
    };
    const pending = this.#checks.begin({ client: request, request: handshakeRequest(request), settings, settle });
    if (pending) socket.once('close', closed).once('end', gone);
  }

  #answer(request: IncomingMessage, outcome: AcceptedHandshake | GuardDenial, answer: Answer): void {
    if ('verdict' in outcome) {
      this.#accepted.set(request, outcome);
      open(request, answer);
    } else {
      reportDenial(outcome);
      const { statusCode, headers } = outcome;
      const fixed = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };
      answer(false, statusCode, JSON.stringify(bodyOf(outcome)), { ...fixed, ...Object.fromEntries(headers) });
    }
  }

  #opened(client: SocketClient & { terminate(): void }, request: IncomingMessage, settings: SocketWatchSettings): void {
    const accepted = this.#accepted.get(request);
    if (!accepted) {
      client.terminate();
      return;
    }
    this.#accepted.delete(request);
    rememberUpgrade(client, request);
    const socket = this.#watched.add(client, accepted.session, settings);
    socket.opened();
    socket.admit(accepted.verdict);
  }
}

/** Code of the application runs here, such as `handleProtocols`: what it throws ends its connection, and not the process. */
function open({ socket }: IncomingMessage, answer: Answer): void {
  try {
    answer(true);
  } catch {
    socket.destroy();
  }
}
