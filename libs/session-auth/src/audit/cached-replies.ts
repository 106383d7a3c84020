import 'reflect-metadata';
import { RequestMethod } from '@nestjs/common';
import { enhancersOf } from '../guard/enhancers.js';
import type { Handler } from '../guard/handlers.js';
import type { AuditContext } from './audit-context.js';
import { classNameOf, prototypesOf, requirementsOf } from './audited-handlers.js';

/** Without `@CacheKey()`, the interceptor caches the replies of GET. */
const CACHED_METHODS: ReadonlySet<unknown> = new Set([RequestMethod.GET, RequestMethod.ALL]);

/**
 * Returns whether `CacheInterceptor` of `@nestjs/cache-manager` may send one user's reply of a guarded
 * handler to another user.
 */
export function sharesCachedReplies(handler: Handler, { interceptors }: AuditContext): boolean {
  const { owner, method } = handler;
  // That of `@CacheKey()`: a function of the call, or a text that is the key of every call of any kind.
  const key: unknown = Reflect.getMetadata('cache_module:cache_key', method);
  if (!requirementsOf(handler) || typeof key === 'function') return false;
  if (!key && !CACHED_METHODS.has(Reflect.getMetadata('method', method))) return false;
  const own = [...enhancersOf(owner, 'interceptor'), ...enhancersOf(method, 'interceptor')];
  return [...interceptors, ...own].some(ignoresTheUser);
}

/** The cache key is the URL, unless a subclass overrides it. By name, because the package is not imported. */
function ignoresTheUser(interceptor: unknown): boolean {
  for (const prototype of prototypesOf(interceptor)) {
    if (classNameOf(prototype) === 'CacheInterceptor') return true;
    if (Object.hasOwn(prototype, 'trackBy') || Object.hasOwn(prototype, 'isRequestCacheable')) return false;
  }
  return false;
}
