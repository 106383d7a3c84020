import 'reflect-metadata';
import { Global, Logger, Module, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { separateContexts } from '../../guard/graphql/operation-context.js';
import type { NestModule } from './nest-container.js';

/** Injection token of the options of `GraphQLModule`. */
export const GRAPHQL_OPTIONS = 'GqlModuleOptions';

/** The used options of `GraphQLModule`. */
export interface GraphqlOptions {
  context?: unknown;
  readonly driver?: unknown;
}

/** A `GraphQLModule`. `completeOptions` is filled once it has read its options. */
interface GraphqlModule {
  readonly completeOptions?: object;
}

const FROZEN = 'the options of GraphQLModule are frozen, and its requests may share a context. Do not freeze them, or leave out context.';
const TOO_LATE =
  'GraphQLModule was initialized before, and its requests may share a context. Import SessionAuthModule first, or do not make GraphQLModule global.';

/** The original `context` option of each function that replaces one. */
const originals = new WeakMap<object, unknown>();

/**
 * Separates the contexts of GraphQL requests. NestJS 11, and Mercurius on every version, write the request into the object that `context` is or
 * returns: with one object for all requests, all of them would carry the request of the first. The module is global, because Nest initialises global
 * modules before `GraphQLModule` reads its options.
 */
@Global()
@Module({})
export class GraphqlContextsModule implements OnModuleInit {
  /** @internal Created by Nest. */
  constructor(private readonly modules: ModulesContainer) {}

  /**
   * Replaces the `context` option of each `GraphQLModule`.
   * @throws InvalidConfigurationError if the option can't be replaced
   */
  onModuleInit(): void {
    for (const module of this.modules.values()) {
      const options = optionsOf(module);
      if (options) separate(options, module.instance as GraphqlModule);
    }
  }
}

function separate(options: GraphqlOptions, module: GraphqlModule): void {
  const { context } = options;
  if (originals.has(context as object)) return;
  const separated = separateContexts(context, warnOnce());
  originals.set(separated, context);
  const isTooLate = Object.keys(module.completeOptions ?? {}).length > 0;
  if (Reflect.set(options, 'context', separated) && !isTooLate) return;
  if (context !== undefined) throw new InvalidConfigurationError(`SessionAuthModule: ${isTooLate ? TOO_LATE : FROZEN}`);
}

function optionsOf({ providers }: NestModule): GraphqlOptions | undefined {
  return providers.get(GRAPHQL_OPTIONS)?.instance as GraphqlOptions | undefined;
}

/** Returns the driver and the original `context` option of each `GraphQLModule`. */
export function graphqlOptionsOf(modules: ModulesContainer): GraphqlOptions[] {
  return [...modules.values()].flatMap((module) => {
    const options = optionsOf(module);
    if (!options) return [];
    const { context, driver } = options;
    return [{ driver, context: originals.has(context as object) ? originals.get(context as object) : context }];
  });
}

function warnOnce(): () => void {
  let warned = false;
  return () => {
    if (warned) return;
    warned = true;
    const logger = new Logger('SessionAuth');
    logger.warn('audit: the context function of GraphQLModule returns one object for more than one request. Return a new one each time.');
  };
}
