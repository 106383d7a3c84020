import type { SocketClient } from '../kinds/socket-client.js';

/** It carries the sockets of one client in several namespaces. */
export interface EngineConnection {
  readonly readyState: string;
  once(event: 'close', listener: () => void): unknown;
}

export interface SocketIoSocket extends SocketClient {
  readonly nsp: object;
  readonly conn: EngineConnection;
}

type Middleware = (socket: SocketIoSocket, next: (error?: Error) => void) => void;

export interface SocketIoNamespace {
  readonly server: SocketIoServer;
  use(middleware: Middleware): unknown;
  on(event: 'new_namespace', listener: (namespace: SocketIoNamespace) => void): unknown;
  prependListener(event: 'connect', listener: (socket: SocketIoSocket) => void): unknown;
}

export interface SocketIoServer {
  readonly opts: { readonly connectionStateRecovery?: object | false };
  readonly _nsps: ReadonlyMap<string, SocketIoNamespace>;
  of(namespace: '/'): SocketIoNamespace;
}

/** Returns the server of a gateway's server, which is a namespace or the server itself. */
export function socketIoServerOf(server: object): SocketIoServer | undefined {
  const candidates = [server, (server as Partial<SocketIoNamespace>).server];
  return candidates.find((candidate): candidate is SocketIoServer => isSocketIoServer(candidate));
}

function isSocketIoServer(candidate: unknown): candidate is SocketIoServer {
  if (typeof candidate !== 'object' || candidate === null) return false;
  const { of, opts, _nsps: namespaces } = candidate as Partial<SocketIoServer>;
  return typeof of === 'function' && typeof opts === 'object' && namespaces instanceof Map;
}
