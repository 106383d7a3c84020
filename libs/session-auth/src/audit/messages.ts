import type { Handler } from '../guard/handlers.js';
import { type RoutePrefixes, textOf } from './routes.js';

/** Of an event, Nest calls every handler. */
const MESSAGE = 1;

/** Returns the messages of a microservice of which one handler receives all. */
export function servedMessagesOf({ kinds, owner, method }: Handler, prefixes: RoutePrefixes): string[] {
  const read = (key: string): unknown => Reflect.getMetadata(key, method) ?? Reflect.getMetadata(key, owner);
  if (!kinds.has('message') || read('microservices:handler_type') !== MESSAGE || !prefixes.has(owner))
    return [];
  const transport = read('microservices:transport') as number | symbol | undefined;
  const suffix = transport === undefined ? '' : ` of transport ${String(transport)}`;
  return patternsOf(method).map((pattern) => `the message ${pattern}${suffix}`);
}

export function patternsOf(method: object): string[] {
  return ((Reflect.getMetadata('microservices:pattern', method) ?? []) as unknown[]).map(textOf);
}

export function gatewayOf({ kinds, owner }: Handler): Readonly<Record<string, unknown>> | undefined {
  if (!kinds.has('gateway') || !Reflect.hasMetadata('websockets:is_gateway', owner)) return undefined;
  const options = Reflect.getMetadata('websockets:gateway_options', owner) as object | undefined;
  return { ...options, port: Reflect.getMetadata('port', owner) as unknown };
}

export function eventOf({ method }: Handler): string {
  return textOf(Reflect.getMetadata('message', method));
}

export function serverOf(handler: Handler): string | undefined {
  const gateway = gatewayOf(handler);
  const parts = gateway && [gateway.port, gateway.path, gateway.namespace];
  return parts?.map((part) => (part === undefined ? '' : textOf(part)).replace(/^\//, '')).join(' ');
}
