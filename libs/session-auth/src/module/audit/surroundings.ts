import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { isSessionAuthGuard } from '../../guard/access/access-decorator.js';
import { rootFieldsOf, type RootField, type Schema } from './schema-reach.js';

/** What the classes of an application do not tell. */
export interface Surroundings {
  /** The guard is registered for the whole application. */
  readonly isGlobal: boolean;
  /** Nest runs guards on fields and references of GraphQL, which it does not by default. */
  readonly fieldsAreGuarded: boolean;
  /** The root fields of the GraphQL schema; `undefined` where several GraphQL modules or none at all have built one. */
  readonly rootFields: readonly RootField[] | undefined;
  /** Interceptors of the whole application: classes and instances. */
  readonly interceptors: readonly unknown[];
}

const GRAPHQL_OPTIONS = 'GqlModuleOptions';
const SCHEMA_HOST = 'GraphQLSchemaHost';

/** Reads what surrounds the handlers of an application that has been built. */
export function surroundingsOf(modules: ModulesContainer, config: ApplicationConfig): Surroundings {
  const guards = [...config.getGlobalGuards(), ...config.getGlobalRequestGuards().map(({ metatype }) => metatype)];
  const options = instancesOf(modules, (token) => token === GRAPHQL_OPTIONS) as { readonly fieldResolverEnhancers?: string[] }[];
  return {
    isGlobal: guards.some(isSessionAuthGuard),
    fieldsAreGuarded: options.every(({ fieldResolverEnhancers }) => fieldResolverEnhancers?.includes('guards')),
    rootFields: options.length === 1 ? builtRootFields(modules) : undefined,
    interceptors: [...config.getGlobalInterceptors(), ...config.getGlobalRequestInterceptors().map(({ metatype }) => metatype)],
  };
}

/** The host throws when no schema has been built. */
function builtRootFields(modules: ModulesContainer): readonly RootField[] | undefined {
  const [host] = instancesOf(modules, (token) => typeof token === 'function' && token.name === SCHEMA_HOST);
  try {
    return rootFieldsOf((host as { readonly schema: Schema }).schema);
  } catch {
    return undefined;
  }
}

function instancesOf(modules: ModulesContainer, isWanted: (token: unknown) => boolean): object[] {
  return [...modules.values()].flatMap(({ providers }) =>
    [...providers].flatMap(([token, { instance }]) => (isWanted(token) && instance ? [instance] : [])),
  );
}
