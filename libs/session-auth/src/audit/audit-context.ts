import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { graphqlOptionsOf, type Handler } from '../guard/handlers.js';
import { handlersOf } from './mapped-handlers.js';
import { routePrefixesOf, type RoutePrefixes } from './routes.js';
import { rootFieldsOf, type RootField, type Schema } from './schema-reach.js';

/** The handlers of an application, and what applies to them from outside their classes. */
export interface AuditContext {
  /** The guards of each include those of the whole application. */
  readonly handlers: readonly Handler[];
  /** Whether Nest runs guards on fields and references of GraphQL. By default it does not. */
  readonly fieldsAreGuarded: boolean;
  /** Those of the GraphQL schema; `undefined` unless exactly one GraphQL module has built a schema. */
  readonly rootFields: readonly RootField[] | undefined;
  readonly guards: readonly unknown[];
  readonly interceptors: readonly unknown[];
  readonly prefixes: RoutePrefixes;
}

export function auditContextOf(modules: ModulesContainer, config: ApplicationConfig): AuditContext {
  const guards = [
    ...config.getGlobalGuards(),
    ...config.getGlobalRequestGuards().map(({ metatype }) => metatype),
  ];
  const options = graphqlOptionsOf(modules);
  return {
    handlers: handlersOf(modules).map((handler) => ({ ...handler, guards: [...guards, ...handler.guards] })),
    fieldsAreGuarded: options.every(({ fieldResolverEnhancers }) =>
      fieldResolverEnhancers?.includes('guards'),
    ),
    rootFields: options.length === 1 ? builtRootFields(modules) : undefined,
    guards,
    prefixes: routePrefixesOf(modules, config.getGlobalPrefix()),
    interceptors: [
      ...config.getGlobalInterceptors(),
      ...config.getGlobalRequestInterceptors().map(({ metatype }) => metatype),
    ],
  };
}

/** The host throws if no schema has been built. */
function builtRootFields(modules: ModulesContainer): readonly RootField[] | undefined {
  const providers = [...modules.values()].flatMap((module) => [...module.providers.values()]);
  const host = providers.find(
    ({ token }) => typeof token === 'function' && token.name === 'GraphQLSchemaHost',
  );
  try {
    return rootFieldsOf((host?.instance as { readonly schema: Schema }).schema);
  } catch {
    return undefined;
  }
}
