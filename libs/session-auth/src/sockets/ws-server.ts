import type { IncomingMessage } from 'node:http';
import type { SocketClient } from '../kinds/socket-client.js';

/** Accepts a handshake, or refuses it. */
export type Answer = (
  accepted: boolean,
  status?: number,
  body?: string,
  headers?: Record<string, string>,
) => void;

interface HandshakeInfo {
  readonly req: IncomingMessage;
}

/** `verifyClient` of ws: with one parameter it returns the answer, with two it calls back. */
type VerifyClient = ((info: HandshakeInfo) => unknown) | ((info: HandshakeInfo, answer: Answer) => void);

type OwnVerifyClient = VerifyClient | null | undefined;

/** Options of a ws server, which reads them at each handshake. */
interface WsServerOptions {
  verifyClient?: VerifyClient | null;
}

export interface WsServer {
  readonly options: WsServerOptions;
  handleUpgrade(...parameters: never[]): unknown;
  prependListener(
    event: 'connection',
    listener: (client: SocketClient & { terminate(): void }, request: IncomingMessage) => void,
  ): unknown;
}

export function isWsServer(server: object): server is WsServer {
  const { options, handleUpgrade, prependListener } = server as Partial<WsServer>;
  return (
    typeof options === 'object' &&
    typeof handleUpgrade === 'function' &&
    typeof prependListener === 'function'
  );
}

/**
 * Calls `check` for every handshake that the application's own `verifyClient` accepts. If the application
 * assigns `verifyClient` later, the new function replaces its earlier one, and not the check.
 */
export function chainVerifyClient(
  options: WsServerOptions,
  check: (request: IncomingMessage, answer: Answer) => void,
): void {
  let own: OwnVerifyClient = options.verifyClient;
  const verifyClient = (info: HandshakeInfo, answer: Answer): void => {
    callOwn(options, own, info, (accepted, ...denial) => {
      if (accepted) check(info.req, answer);
      else answer(false, ...denial);
    });
  };
  Object.defineProperty(options, 'verifyClient', {
    configurable: true,
    enumerable: true,
    get: () => verifyClient,
    set: (value: OwnVerifyClient) => void (own = value),
  });
}

/** Calls it as ws does: the number of its parameters decides. */
function callOwn(options: WsServerOptions, own: OwnVerifyClient, info: HandshakeInfo, answer: Answer): void {
  if (!own) answer(true);
  else if (own.length === 2) own.call(options, info, answer);
  else answer(Boolean((own as (info: HandshakeInfo) => unknown).call(options, info)));
}
