import type { IncomingMessage } from 'node:http';
import type { SocketClient } from '../../guard/sockets/socket-client.js';

/** How ws is told what becomes of a handshake. */
export type Answer = (accepted: boolean, status?: number, body?: string, headers?: Record<string, string>) => void;

/** What ws knows of a handshake. */
export interface HandshakeInfo {
  readonly req: IncomingMessage;
}

/** `verifyClient` of ws: with one parameter it returns the answer, with two it calls back. */
export type VerifyClient = ((info: HandshakeInfo) => unknown) | ((info: HandshakeInfo, answer: Answer) => void);

type OwnVerifyClient = VerifyClient | null | undefined;

/** Options of a server of ws, which it reads at each handshake. */
export interface WsServerOptions {
  verifyClient?: VerifyClient | null;
}

/** A server of ws, as far as it is used here. */
export interface WsServer {
  readonly options: WsServerOptions;
  handleUpgrade(...parameters: never[]): unknown;
  prependListener(event: 'connection', listener: (client: SocketClient & { terminate(): void }, request: IncomingMessage) => void): unknown;
}

/** Whether it is a server of ws. */
export function isWsServer(server: object): server is WsServer {
  const { options, handleUpgrade, prependListener } = server as Partial<WsServer>;
  return typeof options === 'object' && typeof handleUpgrade === 'function' && typeof prependListener === 'function';
}

/**
 * Lets `check` decide on every handshake that the application's own `verifyClient` accepts. The property stays the application's: one that it
 * assigns later is asked as well, and does not replace the check.
 */
export function chainVerifyClient(options: WsServerOptions, check: (request: IncomingMessage, answer: Answer) => void): void {
  const former = Object.getOwnPropertyDescriptor(options, 'verifyClient');
  const own = former?.get ? former : ownProperty(options.verifyClient);
  const verifyClient = (info: HandshakeInfo, answer: Answer): void => {
    askOwn(options, own.get?.call(options) as OwnVerifyClient, info, (accepted, ...denial) => {
      if (accepted) check(info.req, answer);
      else answer(false, ...denial);
    });
  };
  Object.defineProperty(options, 'verifyClient', {
    configurable: true,
    enumerable: true,
    get: () => verifyClient,
    set: (value: unknown) => own.set?.call(options, value),
  });
}

function ownProperty(value: unknown): PropertyDescriptor {
  let current = value;
  return { get: () => current, set: (next: unknown) => void (current = next) };
}

/** As ws asks it: by the number of its parameters. */
function askOwn(options: WsServerOptions, own: OwnVerifyClient, info: HandshakeInfo, answer: Answer): void {
  if (!own) answer(true);
  else if (own.length === 2) own.call(options, info, answer);
  else answer(Boolean((own as (info: HandshakeInfo) => unknown).call(options, info)));
}
