import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import { HTTP } from './http-transport.js';
import type { Transport } from './transport.js';

const opened = new Map<string, Transport>();

/**
 * Opens a kind of context besides HTTP, by the name that Nest has for it. Calls of any other kind are denied.
 */
export function openTransport(kind: string, transport: Transport): void {
  opened.set(kind, transport);
}

/** Returns the transport of a context; `undefined` for a kind of context that is unknown, or not open. */
export function transportOf(context: ArgumentsHost): Transport | undefined {
  const kind = context.getType<string>();
  return kind === 'http' ? HTTP : opened.get(kind);
}

/** Returns the transport that was opened for a kind of context. */
export function openedTransport(kind: string): Transport | undefined {
  return opened.get(kind);
}

/**
 * Returns a parameter of a call by name: a parameter of its route, an argument of its field, or a field of
 * its message.
 */
export function callParameter(context: ExecutionContext, name: string): unknown {
  const parameters = transportOf(context)?.parameters(context);
  if (typeof parameters !== 'object' || parameters === null || !Object.hasOwn(parameters, name))
    return undefined;
  return (parameters as Readonly<Record<string, unknown>>)[name];
}
