import 'reflect-metadata';
import { RequestMethod, VERSION_NEUTRAL, VersioningType } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import type { Handler } from '../guard/handlers.js';
import { fieldOf } from './mapped-fields.js';
import { eventOf, gatewayOf, patternsOf } from './messages.js';
import { pathsOf, type RoutePrefixes, textOf } from './routes.js';

/** Nest's metadata keys of what decides, beside its path, which calls reach a route. */
const METHOD = 'method';
const VERSION = '__version__';
const HOST = 'host';

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
  const gateway = gatewayOf(handler);
  if (gateway) {
    const place = gateway.namespace ?? gateway.path;
    const event = eventOf(handler);
    calls.push({ kind: 'ws', call: place === undefined ? event : `${textOf(place)} ${event}` });
  }
  if (kinds.has('message') && modulePaths.has(owner))
    calls.push(...patternsOf(method).map((call) => ({ kind: 'rpc' as const, call })));
  return calls;
}

/**
 * Returns the routes of a handler as `GET /api/v1/openings`, built as Nest builds them. A version outside of
 * the path, and a host, follow the path.
 * @param modulePaths the prefixes of its controller without the global one, which some routes do not have
 */
export function routesOf(handler: Handler, modulePaths: RoutePrefixes, config: ApplicationConfig): string[] {
  const requestMethod = Reflect.getMetadata(METHOD, handler.method) as RequestMethod;
  const host: unknown = Reflect.getMetadata(HOST, handler.owner);
  const onHost = host === undefined ? '' : ` (host ${[host].flat().map(String).join(', ')})`;
  const routes = versionsOf(handler, config).flatMap(({ path: version, suffix }) =>
    pathsOf(handler, modulePaths).map((path) => {
      const whole = prefixed(version, path === '/' ? '' : path, requestMethod, config);
      return `${RequestMethod[requestMethod]} ${whole}${suffix}${onHost}`;
    }),
  );
  return [...new Set(routes)];
}

interface Version {
  /** The part of the path for the version; empty without one. */
  readonly path: string;
  /** Follows the path, for a version that is not part of it. */
  readonly suffix: string;
}

function versionsOf({ owner, method }: Handler, config: ApplicationConfig): Version[] {
  const options = config.getVersioning();
  const declared = (Reflect.getMetadata(VERSION, method) ??
    Reflect.getMetadata(VERSION, owner) ??
    options?.defaultVersion) as string | symbol | (string | symbol)[] | undefined;
  if (!options || declared === undefined) return [{ path: '', suffix: '' }];
  return [declared].flat().map((version) => {
    if (version === VERSION_NEUTRAL) return { path: '', suffix: '' };
    if (options.type !== VersioningType.URI) return { path: '', suffix: ` (version ${String(version)})` };
    return {
      path: `/${options.prefix === false ? '' : (options.prefix ?? 'v')}${String(version)}`,
      suffix: '',
    };
  });
}

/** Nest leaves the global prefix out of excluded routes, and compares them without the version. */
function prefixed(version: string, path: string, method: RequestMethod, config: ApplicationConfig): string {
  const excluded = config.getGlobalPrefixOptions().exclude ?? [];
  const isExcluded = excluded.some(
    ({ requestMethod, pathRegex }) =>
      [RequestMethod.ALL, -1, method].includes(requestMethod) && pathRegex.test(path || '/'),
  );
  const prefix = isExcluded
    ? ''
    : config
        .getGlobalPrefix()
        .replace(/^\/*(?=.)/, '/')
        .replace(/\/+$/, '');
  return `${prefix}${version}${path}` || '/';
}
