import type { ModulesContainer } from '@nestjs/core';
import { REPLACED_OPTION } from '../../guard/context-kind.js';

/** Injection token of the options of `GraphQLModule`. */
export const GRAPHQL_OPTIONS = 'GqlModuleOptions';

/** The used options of `GraphQLModule`. */
export interface GraphqlOptions {
  readonly context?: unknown;
  readonly driver?: unknown;
}

/** Returns the driver and the original `context` option of each `GraphQLModule`. */
export function graphqlOptionsOf(modules: ModulesContainer): GraphqlOptions[] {
  return [...modules.values()].flatMap(({ providers }) => {
    const options = providers.get(GRAPHQL_OPTIONS)?.instance as GraphqlOptions | undefined;
    if (!options) return [];
    const { context, driver } = options;
    return [{ driver, context: originalOf(context) }];
  });
}

function originalOf(context: unknown): unknown {
  return typeof context === 'function' && REPLACED_OPTION in context ? context[REPLACED_OPTION] : context;
}
