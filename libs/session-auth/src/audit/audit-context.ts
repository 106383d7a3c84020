import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { isSessionAuthGuard } from '../guard/enhancers.js';
import { graphqlOptionsOf } from '../guard/handlers.js';
import { routePrefixesOf, type RoutePrefixes } from './routes.js';
import { rootFieldsOf, type RootField, type Schema } from './schema-reach.js';

/** Configuration that applies to the handlers of an application from outside their classes. */
export interface AuditContext {
  readonly isGlobal: boolean;
  /** Whether Nest runs guards on fields and references of GraphQL. By default it does not. */
  readonly fieldsAreGuarded: boolean;
  /**
   * The root fields of the GraphQL schema; `undefined` unless exactly one GraphQL module has built a schema.
   */
  readonly rootFields: readonly RootField[] | undefined;
  readonly guards: readonly unknown[];
  readonly interceptors: readonly unknown[];
  readonly prefixes: RoutePrefixes;
}

const SCHEMA_HOST = 'GraphQLSchemaHost';

export function auditContextOf(modules: ModulesContainer, config: ApplicationConfig): AuditContext {
  const guards = [
    ...config.getGlobalGuards(),
    ...config.getGlobalRequestGuards().map(({ metatype }) => metatype),
  ];
  const options = graphqlOptionsOf(modules);
  return {
    isGlobal: guards.some(isSessionAuthGuard),
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
  const host = providers.find(({ token }) => typeof token === 'function' && token.name === SCHEMA_HOST);
  try {
    return rootFieldsOf((host?.instance as { readonly schema: Schema }).schema);
  } catch {
    return undefined;
  }
}
