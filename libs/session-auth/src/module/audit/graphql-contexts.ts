import type { GraphqlOptions } from '../graphql-contexts.module.js';

/** Whether requests of GraphQL share a context. NestJS 12 copies an object for each of them itself, but not for Mercurius. */
export function contextFindings(all: readonly GraphqlOptions[], isNest12: boolean): string[] {
  const findings: string[] = [];
  for (const { context, driver } of all) {
    const isCopied = isNest12 && typeof driver === 'function' && driver.name.startsWith('Apollo');
    if (typeof context === 'object' && context !== null && !isCopied)
      findings.push('GraphQLModule has one object as its context, for all requests. Give it a function: context: () => ({ ... }).');
  }
  return findings;
}
