import 'reflect-metadata';
import { requirementsOf } from './closed-handlers.js';
import type { Handler } from './handlers.js';
import type { Surroundings } from './surroundings.js';

const INTERCEPTORS_METADATA = '__interceptors__';
const ROUTE_METHOD = 'method';
/** Of Nest's `RequestMethod`: the interceptor caches no other. */
const GET = 0;
/** Where `@CacheKey()` keeps its argument, which may be a function of the call. */
const CACHE_KEY = 'cache_module:cache_key';
const CACHE_INTERCEPTOR = 'CacheInterceptor';

/** Whether `CacheInterceptor` of `@nestjs/cache-manager` may answer one user of a guarded route with the reply that another one got. */
export function sharesCachedReplies(handler: Handler, { isGlobal, interceptors }: Surroundings): boolean {
  const { kinds, owner, method } = handler;
  if (!kinds.has('route') || Reflect.getMetadata(ROUTE_METHOD, method) !== GET || !requirementsOf(handler, isGlobal)) return false;
  if (typeof Reflect.getMetadata(CACHE_KEY, method) === 'function') return false;
  return [...interceptors, ...interceptorsOf(owner), ...interceptorsOf(method)].some(ignoresTheUser);
}

function interceptorsOf(target: object): unknown[] {
  const interceptors: unknown = Reflect.getMetadata(INTERCEPTORS_METADATA, target);
  return Array.isArray(interceptors) ? interceptors : [];
}

/** Its key is the URL, unless a subclass says otherwise. It is known by its name: the library does not import the package. */
function ignoresTheUser(interceptor: unknown): boolean {
  let prototype = (typeof interceptor === 'function' ? interceptor.prototype : interceptor) as object | null | undefined;
  for (; prototype; prototype = Object.getPrototypeOf(prototype) as object | null) {
    if (prototype.constructor.name === CACHE_INTERCEPTOR) return true;
    if (Object.hasOwn(prototype, 'trackBy') || Object.hasOwn(prototype, 'isRequestCacheable')) return false;
  }
  return false;
}
