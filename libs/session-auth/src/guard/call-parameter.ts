import type { ExecutionContext } from '@nestjs/common';
import { transportOf } from './transports/transports.js';

/** What a call is about, by name: a parameter of its route, an argument of its field, or a field of its message. */
export function callParameter(context: ExecutionContext, name: string): unknown {
  const parameters = transportOf(context)?.parameters(context);
  if (typeof parameters !== 'object' || parameters === null || !Object.hasOwn(parameters, name)) return undefined;
  return (parameters as Readonly<Record<string, unknown>>)[name];
}
