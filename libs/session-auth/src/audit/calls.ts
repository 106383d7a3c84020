import 'reflect-metadata';
import { RequestMethod } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import type { Handler } from '../guard/handlers.js';
import { pathsOf, routesOf, type RoutePrefixes } from './routes.js';
import { fieldNameOf, typeNameOf } from './mapped-handlers.js';

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

const METHOD = 'method';
/** Versions, hosts, and the constraints of Fastify. */
const CONDITIONS = ['__version__', 'host', '__fastify_route_constraints__'];
const PATTERN = 'microservices:pattern';
const PATTERN_KIND = 'microservices:handler_type';
const TRANSPORT = 'microservices:transport';
/** Of an event, Nest calls every handler. */
const MESSAGE = 1;
export const MESSAGE_CALL = 'the message ';
export const EVENT = 'message';
export const IS_GATEWAY = 'websockets:is_gateway';
export const GATEWAY_OPTIONS = 'websockets:gateway_options';

/**
 * Returns the calls that reach a handler: several if it has several paths, versions or kinds; none if Nest
 * does not serve its class.
 */
export function callsOf(handler: Handler, modulePaths: RoutePrefixes, config: ApplicationConfig): Call[] {
  const { kinds, owner, method } = handler;
  const calls: Call[] = [];
  if (kinds.has('route'))
    calls.push(...routesOf(handler, modulePaths, config).map((call) => ({ kind: 'http' as const, call })));
  if (kinds.has('field') || kinds.has('reference') || kinds.has('resolver'))
    calls.push({ kind: 'graphql', call: fieldOf(handler) });
  if (kinds.has('gateway') && Reflect.hasMetadata(IS_GATEWAY, owner))
    calls.push({ kind: 'ws', call: eventOf(handler) });
  if (kinds.has('message') && modulePaths.has(owner))
    calls.push(...patternsOf(method).map((call) => ({ kind: 'rpc' as const, call })));
  return calls;
}

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
    const name = RequestMethod[Reflect.getMetadata(METHOD, method) as RequestMethod];
    calls.push(...pathsOf(handler, prefixes).map((path) => `${name} ${path}${suffix}`));
  }
  if (kinds.has('message') && read(PATTERN_KIND) === MESSAGE && prefixes.has(owner)) {
    const transport = read(TRANSPORT) as number | symbol | undefined;
    const suffix = transport === undefined ? '' : ` of transport ${String(transport)}`;
    calls.push(...patternsOf(method).map((pattern) => `${MESSAGE_CALL}${pattern}${suffix}`));
  }
  return calls;
}

function patternsOf(method: object): string[] {
  return ((Reflect.getMetadata(PATTERN, method) ?? []) as unknown[]).map(textOf);
}

export function fieldOf(handler: Handler): string {
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
  return place === undefined ? event : `${textOf(place)} ${event}`;
}

function textOf(value: unknown): string {
  const isNamed = typeof value === 'string' || typeof value === 'symbol' || value instanceof RegExp;
  return isNamed ? String(value) : JSON.stringify(value);
}
