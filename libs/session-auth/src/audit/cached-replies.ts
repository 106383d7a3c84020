import 'reflect-metadata';
import { RequestMethod } from '@nestjs/common';
import { enhancersOf } from '../guard/enhancers.js';
import type { Handler } from '../guard/handlers.js';
import type { AuditContext } from './audit-context.js';
import { classNameOf, prototypesOf, requirementsOf } from './audited-handlers.js';

const ROUTE_METHOD = 'method';
/**
 * The metadata key of `@CacheKey()`. Its value may be a function of the call. A text is the key of every
 * call, whatever its method and kind.
 */
const CACHE_KEY = 'cache_module:cache_key';
const CACHE_INTERCEPTOR = 'CacheInterceptor';
/** The methods of routes whose replies the interceptor caches without `@CacheKey()`: it caches GET. */
const CACHED_METHODS: ReadonlySet<unknown> = new Set([RequestMethod.GET, RequestMethod.ALL]);

/**
 * Returns whether `CacheInterceptor` of `@nestjs/cache-manager` may send one user's reply of a guarded
 * handler to another user.
 */
export function sharesCachedReplies(handler: Handler, { isGlobal, interceptors }: AuditContext): boolean {
  const { owner, method } = handler;
  if (!requirementsOf(handler, isGlobal)) return false;
  const key: unknown = Reflect.getMetadata(CACHE_KEY, method);
  if (typeof key === 'function') return false;
  const isCached = Boolean(key) || CACHED_METHODS.has(Reflect.getMetadata(ROUTE_METHOD, method));
  return (
    isCached &&
    [...interceptors, ...enhancersOf(owner, 'interceptor'), ...enhancersOf(method, 'interceptor')].some(
      ignoresTheUser,
    )
  );
}

/**
 * The cache key is the URL, unless a subclass overrides it. Compares names, because the library does not
 * import the package.
 */
function ignoresTheUser(interceptor: unknown): boolean {
  for (const prototype of prototypesOf(interceptor)) {
    if (classNameOf(prototype) === CACHE_INTERCEPTOR) return true;
    if (Object.hasOwn(prototype, 'trackBy') || Object.hasOwn(prototype, 'isRequestCacheable')) return false;
  }
  return false;
}
