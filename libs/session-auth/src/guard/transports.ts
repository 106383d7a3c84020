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

/** Returns the transport of a context; `undefined` for an unknown kind of context. */
export function transportOf(context: ArgumentsHost): Transport | undefined {
  const type = context.getType<string>();
  return type === 'http' ? HTTP : TRANSPORTS.get(type);
}

/** Returns a parameter of a call by name: a parameter of its route, an argument of its field, or a field of its message. */
export function callParameter(context: ExecutionContext, name: string): unknown {
  const parameters = transportOf(context)?.parameters(context);
  if (typeof parameters !== 'object' || parameters === null || !Object.hasOwn(parameters, name)) return undefined;
  return (parameters as Readonly<Record<string, unknown>>)[name];
}
