import type { ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { GuardDenial } from '../guard/denial.js';
import { payloadOf } from '../kinds/client-denial.js';
import type { GuardRegistration } from '../guard/guard-registration.js';
import type { CallRequest } from '../guard/transport.js';
import { disconnect, type SocketClient } from '../kinds/socket-client.js';
import { type Watched, WatchedSessions } from '../open/watched-sessions.js';
import { type SessionSocketOptions, type SocketCounts, watchSettings } from './socket-options.js';

interface OpeningSocket {
  /** The client, as token sources of the application receive it. */
  readonly client: object;
  readonly request: CallRequest;
  readonly options: SessionSocketOptions;
  /** Called once if the socket is denied. */
  readonly deny: (denial: GuardDenial) => void;
}

/** The sockets of one registration. */
export class WatchedSockets {
  readonly own: GuardRegistration;
  readonly #ofClient = new WeakMap<object, Watched>();

  constructor(own: GuardRegistration) {
    this.own = own;
  }

  /**
   * Watches a socket from its handshake on, because its session may end during the check. Returns `undefined`
   * if the socket is denied already, because it presents no session.
   */
  watch({ client, request, options, deny }: OpeningSocket): Watched | undefined {
    const session = this.own.reader.read(connectionContext(client), request);
    if ('code' in session) {
      deny(session);
      return undefined;
    }
    return WatchedSessions.of(this.own).watch(session, {
      ...watchSettings(options, this.own.whileOpen),
      isSocket: true,
      end: deny,
    });
  }

  /** From now on, the socket is closed when its session ends. */
  open(client: SocketClient, watched: Watched): void {
    watched.target.end = (denial) => disconnect(client, payloadOf(denial));
    this.#ofClient.set(client, watched);
  }

  watchedOf(client: object): Watched | undefined {
    const watched = this.#ofClient.get(client);
    return watched?.state === 'over' ? undefined : watched;
  }

  /** Visits all that is open. */
  count(): SocketCounts {
    const sockets = WatchedSessions.of(this.own)
      .all()
      .filter(({ target }) => target.isSocket);
    const waiting = sockets.filter(({ state }) => state === 'waiting').length;
    return { watched: sockets.length - waiting, waiting };
  }
}

/** Calls a function when the first check of a socket admits it; at once if its session is cached. */
export function whenAdmitted(watched: Watched, admit: () => void): void {
  const isOpen = watched.confirm();
  if (isOpen === true) admit();
  // Its session may have ended since.
  else if (isOpen) void isOpen.then(() => watched.state === 'open' && admit());
}

/** For token sources of the application. */
function connectionContext(client: object): ExecutionContext {
  const context = new ExecutionContextHost([client, undefined, 'connection']);
  context.setType('ws');
  return context;
}
