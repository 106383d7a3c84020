import { type INestApplicationContext, RequestMethod, VERSION_NEUTRAL, VersioningType } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { acknowledgedReason, keepsOpen } from '../guard/access-metadata.js';
import { auditContextOf, type AuditContext } from './audit-context.js';
import { type Access, accessBy, auditedRuleOf, TYPE_RESOLVER } from './audited-handlers.js';
import { GUARD_REGISTRATION, type GuardRegistration } from '../guard/guard-registration.js';
import { type GraphqlOptions, type Handler, isField } from '../guard/handlers.js';
import { fieldOf } from './mapped-fields.js';
import { BEYOND_ROUTES, eventOf, gatewayOf, patternsOf } from './beyond-routes.js';
import { pathsOf, routePrefixesOf, type RoutePrefixes, textOf } from './routes.js';
import { isReached } from './unguarded-fields.js';

export type { Access } from './audited-handlers.js';

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

/** A call that an application handles, and who may make it. */
export interface AccessMapEntry extends Call {
  /** The path of the `GraphQLModule` that serves the field, such as `/admin`; absent if there is only one. */
  readonly endpoint?: string;
  /** The class and the method of the handler, such as `OpeningsController.list`. */
  readonly handler: string;
  /** Whether the call needs a session. */
  readonly access: Access;
  /** The decorators whose rules the caller must meet, such as `@Roles(hiring_manager)`. */
  readonly rules: readonly string[];
  /** The reason of `@AcknowledgeAudit()`; absent without it. */
  readonly acknowledged?: string;
  /** Set with `@KeepOpen()`: what the handler opens may outlive its session. */
  readonly keepsOpen?: true;
  /**
   * Whether a caller without a session reaches the handler, as far as session guards decide. Guards of the
   * application may still deny the call.
   */
  readonly isOpen: boolean;
}

/**
 * Returns every call that an application handles, with its access: routes, fields of GraphQL, messages of
 * gateways and microservices. Plain data in a fixed order, for a snapshot. Call it after `app.init()`, with
 * the global guards, prefix and versions in place.
 *
 * @example
 * ```ts
 * expect(accessMapOf(app)).toMatchSnapshot();
 * ```
 */
export function accessMapOf(app: INestApplicationContext): AccessMapEntry[] {
  const [modules, config] = [app.get(ModulesContainer), app.get(ApplicationConfig)];
  const context = auditContextOf(modules, config, BEYOND_ROUTES);
  const handlers = context.handlers.filter(({ name }) => name !== TYPE_RESOLVER);
  const modulePaths = routePrefixesOf(modules);
  const registrations = [...modules.values()].flatMap(
    ({ providers }) => (providers.get(GUARD_REGISTRATION)?.instance ?? []) as Partial<GuardRegistration>,
  );
  const servers = new Set(handlers.flatMap((handler) => handler.servers ?? []));
  const entries = handlers.flatMap((handler) => {
    const isReported = registrations.some(({ reportOnly }) => reportOnly?.covers(auditedRuleOf(handler)));
    const access = describeAccess(handler, context, isReported);
    return callsOf(handler, modulePaths, config).flatMap((call): AccessMapEntry[] =>
      call.kind === 'graphql' && servers.size > 1
        ? (handler.servers ?? []).map((server) => ({ ...call, endpoint: pathOf(server, config), ...access }))
        : [{ ...call, ...access }],
    );
  });
  return entries.sort((one, other) => compare(sortKey(one), sortKey(other)));
}

/**
 * Returns the calls that a caller without a session can make: those of `@Public()` and `@OptionalAuth()`, and
 * those that no session guard checks, even if `SessionAuthModule` applies no global guard. A guard of the
 * application may still deny them.
 */
export function findOpenHandlers(app: INestApplicationContext): AccessMapEntry[] {
  return accessMapOf(app).filter(({ isOpen }) => isOpen);
}

function describeAccess(
  handler: Handler,
  context: AuditContext,
  isReported: boolean,
): Omit<AccessMapEntry, keyof Call | 'endpoint'> {
  const rule = isReported ? ({ kind: 'public' } as const) : auditedRuleOf(handler);
  const access = accessBy(rule.kind, handler, context);
  const acknowledged = acknowledgedReason(handler.called);
  return {
    handler: `${handler.owner.name}.${handler.name}`,
    access,
    rules:
      access === 'protected' && rule.kind === 'protected' ? rule.requirements.map(({ text }) => text) : [],
    ...(acknowledged !== undefined && { acknowledged }),
    ...(keepsOpen(handler.called, handler.owner) && { keepsOpen: true as const }),
    isOpen: access !== 'protected' && isReached(handler, context),
  };
}

function pathOf({ path = '/graphql', useGlobalPrefix }: GraphqlOptions, config: ApplicationConfig): string {
  const parts = [useGlobalPrefix ? config.getGlobalPrefix() : '', path];
  return `/${parts.join('/').split('/').filter(Boolean).join('/')}`;
}

function sortKey({ kind, endpoint, call, handler }: AccessMapEntry): string {
  return [kind, endpoint, call.replace(/^(\S+) (\/.*)$/, '$2 $1'), handler].join('\n');
}

/** By code units, so that the order is the same in every locale. */
function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

function callsOf(handler: Handler, modulePaths: RoutePrefixes, config: ApplicationConfig): Call[] {
  const { kinds, owner, method } = handler;
  const routes = routesOf(handler, modulePaths, config);
  const calls: Call[] = routes.map((call) => ({ kind: 'http', call }));
  if (isField(handler)) calls.push({ kind: 'graphql', call: fieldOf(handler) });
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

/** Built as Nest builds them. `modulePaths` lacks the global prefix, which some routes do not have. */
function routesOf(handler: Handler, modulePaths: RoutePrefixes, config: ApplicationConfig): string[] {
  const requestMethod = Reflect.getMetadata('method', handler.method) as RequestMethod;
  const host: unknown = Reflect.getMetadata('host', handler.owner);
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
  readonly path: string;
  /** For a version that is not part of the path. */
  readonly suffix: string;
}

function versionsOf({ owner, method }: Handler, config: ApplicationConfig): Version[] {
  const options = config.getVersioning();
  const declared = (Reflect.getMetadata('__version__', method) ??
    Reflect.getMetadata('__version__', owner) ??
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
