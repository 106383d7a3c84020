import type { GraphqlOptions } from '../graphql-contexts.module.js';

/** Whether requests of GraphQL share a context. NestJS 12 copies an object for each of them itself, but not for Mercurius. */
export function contextFindings(all: readonly GraphqlOptions[], isNest12: boolean): string[] {
  return all.flatMap(({ context, driver }) => {
    const isObject = typeof context === 'object' && context !== null;
    if (!isObject || (isNest12 && typeof driver === 'function' && driver.name.startsWith('Apollo'))) return [];
    return ['GraphQLModule has one object as its context, for all requests. Give it a function: context: () => ({ ... }).'];
  });
}
