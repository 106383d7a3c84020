import { Socket } from 'node:net';
import type { AxiosProxyConfig } from 'axios';
// By its file, because Bun resolves 'undici' to its own one, whose Client has no dispatch().
import { type buildConnector, Client, type Dispatcher, ProxyAgent } from 'undici/index.js';
import { MAX_HEADER_BYTES } from './reply.js';

/**
 * Milliseconds for which an idle connection is kept, whatever the service says in `Keep-Alive`: what is in
 * between may drop it earlier, without a sign.
 */
const MAX_IDLE_MS = 4_000;

/** Options of undici. Its own timeouts are off: the deadline of the call is the only one. */
const LIMITS = {
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: MAX_HEADER_BYTES,
  keepAliveTimeout: MAX_IDLE_MS,
  keepAliveMaxTimeout: MAX_IDLE_MS,
};

/** Makes sockets. Those of undici return them, although their types do not say so. */
export type Connector = (...connection: Parameters<buildConnector.connector>) => unknown;

/**
 * Returns the dispatcher of one connection, to the origin or through a proxy. `made` is called with each
 * socket of it: when it begins to connect, and when it is connected.
 */
export function dispatcherTo(
  origin: string,
  proxy: AxiosProxyConfig | undefined,
  connect: Connector,
  made: (socket: Socket) => void,
): Dispatcher {
  const clientOf = (to: string | URL, connector: Connector): Client =>
    new Client(to, { ...LIMITS, connect: tracked(connector, made) });
  if (!proxy) return clientOf(origin, connect);
  const { protocol = 'http', host, port, auth } = proxy;
  const uri = `${protocol.replace(/:$/, '')}://${host}:${port}`;
  const token = auth && `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
  const factory = (to: string | URL, own: { connect: buildConnector.connector }): Client =>
    clientOf(to, own.connect);
  return new ProxyAgent({ uri, ...(token && { token }), factory, proxyTunnel: false });
}

function tracked(connect: Connector, made: (socket: Socket) => void): buildConnector.connector {
  return (options, settle) => {
    const connecting = connect(options, (...outcome) => {
      const [, socket] = outcome;
      if (socket) made(socket);
      settle(...outcome);
      if (socket) acceptContinue(socket);
    });
    if (connecting instanceof Socket) made(connecting);
  };
}

/** The parser that undici attaches to a socket. */
interface ReplyParser {
  onHeadersComplete(status: number, ...rest: readonly unknown[]): unknown;
}

/**
 * Makes a connection accept `100 Continue` before a reply. undici accepts every other interim reply (1xx),
 * but treats this one as an error unless it sent `Expect`. Its parser therefore gets `102 Processing`.
 */
function acceptContinue(socket: Socket): void {
  for (const symbol of Object.getOwnPropertySymbols(socket)) {
    const parser = Reflect.get(socket, symbol) as Partial<ReplyParser> | null | undefined;
    const onHeadersComplete = parser?.onHeadersComplete;
    if (parser && typeof onHeadersComplete === 'function')
      parser.onHeadersComplete = (status, ...rest) =>
        onHeadersComplete.call(parser as ReplyParser, status === 100 ? 102 : status, ...rest);
  }
}
