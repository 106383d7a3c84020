import type { ExecutionContext } from '@nestjs/common';
import { transportOf } from './transports/transports.js';

const NONE: Readonly<Record<string, unknown>> = {};

/** What a call is about, by name: parameters of its route, arguments of its field, or fields of its message. */
export function callParameters(context: ExecutionContext): Readonly<Record<string, unknown>> {
  const parameters = transportOf(context)?.parameters(context);
  return typeof parameters === 'object' && parameters !== null ? (parameters as Record<string, unknown>) : NONE;
}
