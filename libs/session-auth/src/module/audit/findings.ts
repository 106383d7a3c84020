import 'reflect-metadata';
import { declarationOf, decoratedMethod } from '../../guard/access/access-metadata.js';
import type { Handler } from '../handlers.js';
import type { AuditContext } from './audit-context.js';
import { requirementsOf, unguardedFieldsOf } from './unguarded-fields.js';

/** Returns the findings for the handlers of an application: declarations that have no effect, or that are not enforced everywhere. */
export function findingsOf(handlers: readonly Handler[], context: AuditContext): string[] {
  const findings = handlers.flatMap((handler) => findingsOfOne(handler, context));
  for (const { handler, through } of unguardedFieldsOf(handlers, context)) {
    const path = through === undefined ? '' : ` through ${through}`;
    findings.push(
      `${placeOf(handler)} can be reached${path} without its check: Nest runs no guards on fields and references. Set fieldResolverEnhancers: ['guards'] in GraphQLModule, or mark it @Public().`,
    );
  }
  return findings;
}

function findingsOfOne(handler: Handler, context: AuditContext): string[] {
  const findings: string[] = [];
  const place = placeOf(handler);
  const own = declarationOf(handler.method);
  if (own.open && own.requirements.length > 0) {
    const opening = own.open === 'public' ? '@Public()' : '@OptionalAuth()';
    findings.push(`${place} has ${opening}, which has no effect next to decorators that require something. Remove one of them.`);
  }
  if (hasLostItsRule(handler)) {
    findings.push(
      `${place} has lost its rule: a decorator above the rule replaces the method without its metadata. Put the rule above that decorator.`,
    );
  }
  if (sharesCachedReplies(handler, context)) {
    findings.push(
      `${place} is cached for all users at once: the key of CacheInterceptor is the URL. Remove it, or override trackBy() so that the key names the user.`,
    );
  }
  return findings;
}

function placeOf({ owner, name }: Handler): string {
  return `${owner.name}.${name}`;
}

/** Rules are metadata of functions. A decorator that wraps the function and copies its metadata keeps the rule. */
function hasLostItsRule({ owner, name, method }: Handler): boolean {
  let prototype = owner.prototype as object | null;
  while (prototype && !Object.hasOwn(prototype, name)) prototype = Object.getPrototypeOf(prototype) as object | null;
  const decorated = prototype ? decoratedMethod(prototype, name) : undefined;
  if (!decorated || decorated === method) return false;
  const [before, now] = [declarationOf(decorated), declarationOf(method)];
  return before.open !== now.open || before.requirements.some((requirement) => !now.requirements.includes(requirement));
}

const INTERCEPTORS_METADATA = '__interceptors__';
const ROUTE_METHOD = 'method';
/** `RequestMethod.GET` of Nest. The interceptor caches replies of no other method. */
const GET = 0;
/** The metadata key of `@CacheKey()`. Its value may be a function of the call. */
const CACHE_KEY = 'cache_module:cache_key';
const CACHE_INTERCEPTOR = 'CacheInterceptor';

/** Returns whether `CacheInterceptor` of `@nestjs/cache-manager` may send one user's reply of a guarded route to another user. */
function sharesCachedReplies(handler: Handler, { isGlobal, interceptors }: AuditContext): boolean {
  const { kinds, owner, method } = handler;
  if (!kinds.has('route') || Reflect.getMetadata(ROUTE_METHOD, method) !== GET || !requirementsOf(handler, isGlobal)) return false;
  if (typeof Reflect.getMetadata(CACHE_KEY, method) === 'function') return false;
  return [...interceptors, ...interceptorsOf(owner), ...interceptorsOf(method)].some(ignoresTheUser);
}

function interceptorsOf(target: object): unknown[] {
  const interceptors: unknown = Reflect.getMetadata(INTERCEPTORS_METADATA, target);
  return Array.isArray(interceptors) ? interceptors : [];
}

/** The cache key is the URL, unless a subclass overrides it. Compares names, because the library does not import the package. */
function ignoresTheUser(interceptor: unknown): boolean {
  let prototype = (typeof interceptor === 'function' ? interceptor.prototype : interceptor) as object | null | undefined;
  for (; prototype; prototype = Object.getPrototypeOf(prototype) as object | null) {
    if (prototype.constructor.name === CACHE_INTERCEPTOR) return true;
    if (Object.hasOwn(prototype, 'trackBy') || Object.hasOwn(prototype, 'isRequestCacheable')) return false;
  }
  return false;
}
