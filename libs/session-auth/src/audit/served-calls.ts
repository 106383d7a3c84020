import 'reflect-metadata';
import { RequestMethod } from '@nestjs/common';
import type { Handler } from '../guard/handlers.js';
import { pathsOf, type RoutePrefixes } from './routes.js';
import { fieldNameOf, typeNameOf } from './mapped-handlers.js';

/** Versions, hosts, and the constraints of Fastify. */
const CONDITIONS = ['__version__', 'host', '__fastify_route_constraints__'];
/** Of an event, Nest calls every handler. */
const MESSAGE = 1;
export const MESSAGE_CALL = 'the message ';

/**
 * Returns the routes and messages of which one handler serves all calls: a route without its version in the
 * path, but with what else decides who serves it.
 */
export function servingCallsOf(handler: Handler, prefixes: RoutePrefixes): string[] {
  const { kinds, owner, method } = handler;
  const read = (key: string): unknown => Reflect.getMetadata(key, method) ?? Reflect.getMetadata(key, owner);
  const calls: string[] = [];
  if (kinds.has('route')) {
    const conditions = CONDITIONS.map(read).filter((condition) => condition !== undefined);
    const suffix = conditions.map((condition) => ` (${[condition].flat().map(textOf).join(', ')})`).join('');
    const name = RequestMethod[Reflect.getMetadata('method', method) as RequestMethod];
    calls.push(...pathsOf(handler, prefixes).map((path) => `${name} ${path}${suffix}`));
  }
  if (kinds.has('message') && read('microservices:handler_type') === MESSAGE && prefixes.has(owner)) {
    const transport = read('microservices:transport') as number | symbol | undefined;
    const suffix = transport === undefined ? '' : ` of transport ${String(transport)}`;
    calls.push(...patternsOf(method).map((pattern) => `${MESSAGE_CALL}${pattern}${suffix}`));
  }
  return calls;
}

export function patternsOf(method: object): string[] {
  return ((Reflect.getMetadata('microservices:pattern', method) ?? []) as unknown[]).map(textOf);
}

export function fieldOf(handler: Handler): string {
  const name = handler.kinds.has('reference') ? '__resolveReference' : fieldNameOf(handler);
  return [typeNameOf(handler), name].filter((part) => part !== undefined).join('.');
}

/** Returns where a gateway listens; `undefined` for a handler of none. */
export function gatewayOf({ kinds, owner }: Handler): Readonly<Record<string, unknown>> | undefined {
  if (!kinds.has('gateway') || !Reflect.hasMetadata('websockets:is_gateway', owner)) return undefined;
  const options = Reflect.getMetadata('websockets:gateway_options', owner) as object | undefined;
  return { ...options, port: Reflect.getMetadata('port', owner) as unknown };
}

export function eventOf({ method }: Handler): string {
  return textOf(Reflect.getMetadata('message', method));
}

export function textOf(value: unknown): string {
  const isNamed = typeof value === 'string' || typeof value === 'symbol' || value instanceof RegExp;
  return isNamed ? String(value) : JSON.stringify(value);
}
