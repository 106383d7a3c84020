import type { IncomingMessage } from 'node:http';
import { unavailable } from '../contract/outcome.js';
import { bodyOf } from '../exceptions/denial-body.js';
import { type GuardDenial, reportDenial, unavailableDenial } from '../guard/denial.js';
import { handshakeRequest } from '../guard/http-request.js';
import { type SocketClient, storeUpgrade } from '../guard/socket-client.js';
import type { CallRequest } from '../guard/transport.js';
import type { AuthenticatedHandshake } from './handshake-checks.js';
import type { ApplicationSockets, UnassignedHandshake } from './application-sockets.js';
import type { RegistrationSockets } from './registration-sockets.js';
import type { SocketWatchSettings } from './socket-options.js';
import { chainVerifyClient, type Answer, type WsServer } from './ws-server.js';

/** How the check of a handshake has ended, and the registration that checked it. */
interface Settled {
  readonly outcome: AuthenticatedHandshake | GuardDenial;
  readonly registration: RegistrationSockets;
}

/** Ends the check of a client that is gone. Never sent. */
const NOT_SENT = unavailableDenial(unavailable('busy', 1));

/**
 * Checks ws sockets while they are still HTTP requests. The server passes the request of a handshake to
 * `connection`, so the request object binds a socket to its verdict, and no data of the client does.
 */
export class WsHandshakes {
  readonly #application: ApplicationSockets;
  readonly #authenticated = new WeakMap<
    IncomingMessage,
    AuthenticatedHandshake & { readonly registration: RegistrationSockets }
  >();

  constructor(application: ApplicationSockets) {
    this.#application = application;
  }

  /** Checks every handshake of a server. Reads `settings` at each handshake. */
  protect(server: WsServer, settings: () => SocketWatchSettings): void {
    chainVerifyClient(server.options, (request, answer) => this.#check(request, settings(), answer));
    // Runs before the listeners of gateways, so that they find the user.
    server.prependListener('connection', (client, request) => this.#opened(client, request, settings()));
  }

  /**
   * Answers a handshake, unless its connection closes first. Closes a connection whose client has ended its
   * side.
   */
  #check(request: IncomingMessage, settings: SocketWatchSettings, answer: Answer): void {
    const { socket } = request;
    const handshake = handshakeRequest(request);
    const gone = (): void => void socket.destroy();
    const closed = (): void => pending?.end(NOT_SENT);
    const settle: UnassignedHandshake['settle'] = (outcome, registration) => {
      socket.removeListener('close', closed).removeListener('end', gone);
      if (!socket.destroyed) this.#answer(request, handshake, { outcome, registration }, answer);
    };
    const pending = this.#application.begin({ client: request, request: handshake, settings, settle });
    if (pending) socket.once('close', closed).once('end', gone);
  }

  #answer(
    request: IncomingMessage,
    handshake: CallRequest,
    { outcome, registration }: Settled,
    answer: Answer,
  ): void {
    if ('verdict' in outcome) {
      this.#authenticated.set(request, { ...outcome, registration });
      open(request, answer);
    } else {
      reportDenial(outcome, registration.parts.authority);
      const fixed = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };
      answer(false, outcome.statusCode, JSON.stringify(bodyOf(outcome)), {
        ...fixed,
        ...Object.fromEntries(registration.checks.challenges.headersOf(outcome, handshake)),
      });
    }
  }

  #opened(
    client: SocketClient & { terminate(): void },
    request: IncomingMessage,
    settings: SocketWatchSettings,
  ): void {
    const handshake = this.#authenticated.get(request);
    if (!handshake) {
      client.terminate();
      return;
    }
    this.#authenticated.delete(request);
    storeUpgrade(client, request);
    const socket = this.#application.watch(handshake.registration, client, handshake.session, settings);
    socket.opened();
    socket.admit(handshake.verdict);
  }
}

/**
 * Runs code of the application, such as `handleProtocols`. An exception closes the connection, and does not
 * end the process.
 */
function open({ socket }: IncomingMessage, answer: Answer): void {
  try {
    answer(true);
  } catch {
    socket.destroy();
  }
}
