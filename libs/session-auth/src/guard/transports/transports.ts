import type { ArgumentsHost } from '@nestjs/common';
import { GRAPHQL } from './graphql.js';
import { HTTP } from './http.js';
import { RPC } from './rpc.js';
import type { Transport } from './transport.js';
import { WEB_SOCKET } from './web-socket.js';

const TRANSPORTS: ReadonlyMap<string, Transport> = new Map([
  ['graphql', GRAPHQL],
  ['ws', WEB_SOCKET],
  ['rpc', RPC],
]);

/** The transport of a context; none for a kind of context that is unknown here. */
export function transportOf(context: ArgumentsHost): Transport | undefined {
  const type = context.getType<string>();
  return type === 'http' ? HTTP : TRANSPORTS.get(type);
}
