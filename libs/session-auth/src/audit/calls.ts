import 'reflect-metadata';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { fieldNameOf, typeNameOf, type Handler } from '../guard/handlers.js';
import { controllerModulesOf, routesOf } from './routes.js';

/** A call as its client names it. */
export interface Call {
  /** The kind of the call: a GraphQL field, a route, a message of a microservice, or one of a gateway. */
  readonly kind: 'graphql' | 'http' | 'rpc' | 'ws';
  /**
   * `GET /openings/:id`, `Query.openings`, the event of a gateway after its namespace, or the pattern of a
   * message.
   */
  readonly call: string;
}

const PATTERN = 'microservices:pattern';
const EVENT = 'message';
const IS_GATEWAY = 'websockets:is_gateway';
const GATEWAY_OPTIONS = 'websockets:gateway_options';

/**
 * Returns the calls that reach a handler: several if it has several paths, versions or kinds; none if Nest
 * does not serve its class.
 */
export function callsOf(handler: Handler, modules: ModulesContainer, config: ApplicationConfig): Call[] {
  const { kinds, owner, method } = handler;
  const calls: Call[] = [];
  if (kinds.has('route'))
    calls.push(...routesOf(handler, modules, config).map((call) => ({ kind: 'http' as const, call })));
  if (kinds.has('field') || kinds.has('reference') || kinds.has('resolver'))
    calls.push({ kind: 'graphql', call: fieldOf(handler) });
  if (kinds.has('gateway') && Reflect.hasMetadata(IS_GATEWAY, owner))
    calls.push({ kind: 'ws', call: eventOf(handler) });
  if (kinds.has('message') && controllerModulesOf(owner, modules).length > 0) {
    const patterns = (Reflect.getMetadata(PATTERN, method) ?? []) as unknown[];
    calls.push(...patterns.map((pattern) => ({ kind: 'rpc' as const, call: textOf(pattern) })));
  }
  return calls;
}

function fieldOf(handler: Handler): string {
  const name = handler.kinds.has('reference') ? '__resolveReference' : fieldNameOf(handler);
  return [typeNameOf(handler), name].filter((part) => part !== undefined).join('.');
}

function eventOf({ owner, method }: Handler): string {
  const options = (Reflect.getMetadata(GATEWAY_OPTIONS, owner) ?? {}) as {
    readonly namespace?: unknown;
    readonly path?: unknown;
  };
  const place = options.namespace ?? options.path;
  const event = textOf(Reflect.getMetadata(EVENT, method));
  return place === undefined ? event : `${place instanceof RegExp ? String(place) : textOf(place)} ${event}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
