import { Logger } from '@nestjs/common';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { ContextKind } from '../guard/transport.js';
import { REPLACED_OPTION } from '../guard/handlers.js';
import { GRAPHQL } from './graphql-transport.js';
import { separateContexts, withSocketContexts } from './operation-context.js';

const FROZEN =
  'the options of GraphQLModule are frozen, and its requests may share a context. Do not freeze them, or leave out context.';
const TOO_LATE =
  'GraphQLModule was initialized before, and its requests may share a context. Import SessionAuthModule first, or do not make GraphQLModule global.';

/** GraphQL. Recognised by the options of `GraphQLModule`. */
export const KIND: ContextKind = {
  transport: GRAPHQL,

  /**
   * NestJS 11, and Mercurius on every version, write the request into the object that `context` is or returns:
   * with one object for all requests, all of them would carry the request of the first.
   * @param module a `GraphQLModule`, whose `completeOptions` are filled once it has read its options
   * @throws InvalidConfigurationError if the `context` option can't be replaced
   */
  prepareModule(
    { completeOptions = {} }: { readonly completeOptions?: object },
    options: { readonly context?: unknown },
  ) {
    const { context } = options;
    if (typeof context === 'function' && REPLACED_OPTION in context) return;
    const warn = warnOnce();
    const separated = Object.assign(separateContexts(context, warn), { [REPLACED_OPTION]: context });
    const isTooLate = Object.keys(completeOptions).length > 0;
    // Subscriptions over a socket that can't be replaced are denied.
    for (const [name, value] of Object.entries(withSocketContexts({ ...options }, warn)))
      Reflect.set(options, name, value);
    if (Reflect.set(options, 'context', separated) && !isTooLate) return;
    if (context !== undefined)
      throw new InvalidConfigurationError(`SessionAuthModule: ${isTooLate ? TOO_LATE : FROZEN}`);
  },
};

function warnOnce(): () => void {
  let warned = false;
  return () => {
    if (warned) return;
    warned = true;
    const logger = new Logger('SessionAuth');
    logger.warn(
      'audit: the context function of GraphQLModule returns one object for more than one request. Return a new one each time.',
    );
  };
}
