import { declarationOf, decoratedMethod } from '../../guard/access-metadata.js';
import { sharesCachedReplies } from './cached-replies.js';
import type { Handler } from './handlers.js';
import type { Surroundings } from './surroundings.js';
import { unguardedFieldsOf } from './unguarded-fields.js';

/** Returns what is wrong with the handlers of an application: what their decorators declare, and what does not hold. */
export function findingsOf(handlers: readonly Handler[], surroundings: Surroundings): string[] {
  const findings = handlers.flatMap((handler) => findingsOfOne(handler, surroundings));
  for (const { handler, through } of unguardedFieldsOf(handlers, surroundings)) {
    const way = through === undefined ? '' : ` through ${through}`;
    findings.push(
      `${placeOf(handler)} can be reached${way} without its check: Nest runs no guards on fields and references. Set fieldResolverEnhancers: ['guards'] in GraphQLModule, or mark it @Public().`,
    );
  }
  return findings;
}

function findingsOfOne(handler: Handler, surroundings: Surroundings): string[] {
  const findings: string[] = [];
  const place = placeOf(handler);
  const own = declarationOf(handler.method);
  if (own.open && own.requirements.length > 0) {
    const opening = own.open === 'public' ? '@Public()' : '@OptionalAuth()';
    findings.push(`${place} has ${opening} beside decorators that require something, and opens nothing. Remove one of them.`);
  }
  if (hasLostItsRule(handler)) {
    findings.push(
      `${place} has lost its rule: a decorator above the rule replaces the method without its metadata. Put the rule above that decorator.`,
    );
  }
  if (sharesCachedReplies(handler, surroundings)) {
    findings.push(
      `${place} is cached for all users at once: the key of CacheInterceptor is the URL. Remove it, or override trackBy() so that the key names the user.`,
    );
  }
  return findings;
}

function placeOf({ owner, name }: Handler): string {
  return `${owner.name}.${name}`;
}

/** A rule is on a function. A decorator that wraps the function and copies its metadata keeps the rule. */
function hasLostItsRule({ owner, name, method }: Handler): boolean {
  let prototype = owner.prototype as object | null;
  while (prototype && !Object.hasOwn(prototype, name)) prototype = Object.getPrototypeOf(prototype) as object | null;
  const decorated = prototype ? decoratedMethod(prototype, name) : undefined;
  if (!decorated || decorated === method) return false;
  const [before, now] = [declarationOf(decorated), declarationOf(method)];
  return before.open !== now.open || before.requirements.some((requirement) => !now.requirements.includes(requirement));
}
