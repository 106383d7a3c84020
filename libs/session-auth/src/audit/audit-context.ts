import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import type { Type } from '@nestjs/common';
import { graphqlOptionsOf, type Handler, type Placed, placedHandlersOf } from '../guard/handlers.js';
import { routePrefixesOf, type RoutePrefixes } from './routes.js';
import type { RootField } from './schema-reach.js';

/** Loaded if an application has GraphQL, gateways or messages. */
export interface BeyondRoutes {
  mappedHandlersOf(placed: readonly Placed[], modules: ModulesContainer): readonly Handler[];
  builtRootFields(modules: ModulesContainer): readonly RootField[] | undefined;
  servedMessagesOf(handler: Handler, prefixes: RoutePrefixes): readonly string[];
  findingsOf(handler: Handler, context: AuditContext): readonly (Finding | undefined)[];
  sharedContextsOf(modules: ModulesContainer, config: ApplicationConfig): readonly Finding[];
}

export interface AuditContext {
  /** The guards of each include those of the whole application. */
  readonly handlers: readonly Handler[];
  /** Whether Nest runs guards on fields and references of GraphQL. By default it does not. */
  readonly fieldsAreGuarded: boolean;
  /** Those of the GraphQL schema; `undefined` unless exactly one GraphQL module has built a schema. */
  readonly rootFields: readonly RootField[] | undefined;
  readonly interceptors: readonly unknown[];
  readonly prefixes: RoutePrefixes;
  readonly beyondRoutes?: BeyondRoutes | undefined;
}

export function auditContextOf(
  modules: ModulesContainer,
  config: ApplicationConfig,
  beyondRoutes: BeyondRoutes | undefined,
  placed = placedHandlersOf(modules),
): AuditContext {
  const guards = [
    ...config.getGlobalGuards(),
    ...config.getGlobalRequestGuards().map(({ metatype }) => metatype),
  ];
  const options = graphqlOptionsOf(modules);
  const handlers = beyondRoutes?.mappedHandlersOf(placed, modules) ?? placed.map(({ handler }) => handler);
  return {
    handlers: leastGuarded(handlers).map((handler) => ({
      ...handler,
      guards: [...guards, ...handler.guards],
    })),
    fieldsAreGuarded: options.every(({ fieldResolverEnhancers }) =>
      fieldResolverEnhancers?.includes('guards'),
    ),
    rootFields: options.length === 1 ? beyondRoutes?.builtRootFields(modules) : undefined,
    prefixes: routePrefixesOf(modules, config.getGlobalPrefix()),
    interceptors: [
      ...config.getGlobalInterceptors(),
      ...config.getGlobalRequestInterceptors().map(({ metatype }) => metatype),
    ],
    beyondRoutes,
  };
}

/** A class that several modules have is listed once, as it is least guarded. */
function leastGuarded(handlers: readonly Handler[]): Handler[] {
  const least = new Map<Type, Map<string, Handler>>();
  for (const handler of handlers) {
    const own = least.get(handler.owner) ?? new Map<string, Handler>();
    const other = own.get(handler.name);
    const chosen = !other || handler.guards.length < other.guards.length ? handler : other;
    const servers = [...(other?.servers ?? []), ...(handler.servers ?? [])];
    own.set(handler.name, servers.length > 1 ? { ...chosen, servers } : chosen);
    least.set(handler.owner, own);
  }
  return [...least.values()].flatMap((own) => [...own.values()]);
}

export interface Finding {
  readonly text: string;
  /** Whether a rule is certain to have no effect: the application does not start. All else may be intended. */
  readonly stops: boolean;
}

/** Makes a finding; `tools/check-messages.mjs` reads the texts of its calls. */
export function finding(text: string, stops = false): Finding {
  return { text, stops };
}

export function placeOf({ owner, name }: Pick<Handler, 'owner' | 'name'>): string {
  return `${owner.name}.${name}`;
}
