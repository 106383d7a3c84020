import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import { GRAPHQL } from './graphql/graphql-transport.js';
import { HTTP } from './http/http-transport.js';
import { RPC } from './messages/message-transport.js';
import { WEB_SOCKET } from './sockets/socket-transport.js';
import type { Transport } from './transport.js';

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

/** What a call is about, by name: a parameter of its route, an argument of its field, or a field of its message. */
export function callParameter(context: ExecutionContext, name: string): unknown {
  const parameters = transportOf(context)?.parameters(context);
  if (typeof parameters !== 'object' || parameters === null || !Object.hasOwn(parameters, name)) return undefined;
  return (parameters as Readonly<Record<string, unknown>>)[name];
}
