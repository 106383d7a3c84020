import type { IncomingMessage } from 'node:http';
import { bodyOf } from '../contract/denials.js';
import { type GuardDenial, reportDenial } from '../guard/denial.js';
import type { GuardRegistration } from '../guard/guard-registration.js';
import { handshakeRequest } from '../kinds/handshake-request.js';
import { type SocketClient, storeUpgrade } from '../kinds/socket-client.js';
import type { Watched } from '../open/watched-sessions.js';
import { type WatchedSockets, whenAdmitted } from './watched-sockets.js';
import type { SessionSocketOptions } from './socket-options.js';
import { chainVerifyClient, type Answer, type WsServer } from './ws-server.js';

/**
 * Checks ws sockets while they are still HTTP requests. The server passes the request of a handshake to
 * `connection`, so the request object binds a socket to its verdict, and no data of the client does.
 */
export class WsHandshakes {
  readonly #application: WatchedSockets;
  readonly #admitted = new WeakMap<IncomingMessage, Watched>();

  constructor(application: WatchedSockets) {
    this.#application = application;
  }

  /** Reads `options` at each handshake. */
  protect(server: WsServer, options: () => SessionSocketOptions): void {
    chainVerifyClient(server.options, (request, answer) => this.#check(request, options(), answer));
    // Runs before the listeners of gateways, so that they find the user.
    server.prependListener('connection', (client, request) => this.#opened(client, request));
  }

  /** The socket is watched until its connection closes, whether it opens or not. */
  #check(request: IncomingMessage, options: SessionSocketOptions, answer: Answer): void {
    const { socket } = request;
    // The application's own check may have run for long, and no `close` would end the watch.
    if (socket.destroyed) return;
    const handshake = handshakeRequest(request);
    const gone = (): void => void socket.destroy();
    const watched = this.#application.watch({
      client: request,
      request: handshake,
      options,
      deny: (denial) => {
        socket.removeListener('end', gone);
        deny(denial, this.#application.own, answer);
      },
    });
    if (!watched) return;
    socket.once('close', () => watched.over()).once('end', gone);
    whenAdmitted(watched, () => {
      socket.removeListener('end', gone);
      watched.target.end = gone;
      this.#admitted.set(request, watched);
      open(request, answer);
    });
  }

  #opened(client: SocketClient & { terminate(): void }, request: IncomingMessage): void {
    const watched = this.#admitted.get(request);
    if (watched?.state !== 'open') {
      client.terminate();
      return;
    }
    this.#admitted.delete(request);
    storeUpgrade(client, request);
    this.#application.open(client, watched);
  }
}

function deny(denial: GuardDenial, { reader }: GuardRegistration, answer: Answer): void {
  reportDenial(denial);
  answer(false, denial.statusCode, JSON.stringify(bodyOf(denial)), {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    ...Object.fromEntries(reader.challenge.headersOf(denial)),
  });
}

/**
 * If code of the application throws, such as `handleProtocols`, the handshake is answered as long as nothing is
 * sent: proxies take a connection that is cut before the head for a failure of the instance.
 */
function open({ socket }: IncomingMessage, answer: Answer): void {
  const { bytesWritten } = socket;
  if (succeeds(() => answer(true))) return;
  if (socket.bytesWritten === bytesWritten && succeeds(() => answer(false, 503))) return;
  socket.destroy();
}

function succeeds(run: () => void): boolean {
  try {
    run();
    return true;
  } catch {
    return false;
  }
}
