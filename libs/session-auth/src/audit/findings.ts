import { RequestMethod } from '@nestjs/common';
import { acknowledgedReason, declarationOf, parameterNameOf } from '../guard/access-metadata.js';
import { resolveRule } from '../guard/access-rule.js';
import { enhancersOf, isSessionAuthGuard, namesSessionAuthGuardItself } from '../guard/enhancers.js';
import type { Handler } from '../guard/handlers.js';
import { type AuditContext, finding, type Finding, placeOf } from './audit-context.js';
import {
  auditedRuleOf,
  classNameOf,
  decoratedParametersOf,
  GUARDS_PROXY,
  isNamed,
  prototypesOf,
  requirementsOf,
} from './audited-handlers.js';
import { ineffectiveRulesOf, servedCalls } from './ineffective-rules.js';

export function findingsOf(context: AuditContext): Finding[] {
  const served = servedCalls(context);
  return context.handlers.flatMap((handler) => {
    const findings = [
      ...ineffectiveRulesOf(handler, context, served),
      ...contradictionsOf(handler),
      ...unguardedParametersOf(handler),
      cachedForAll(handler, context),
    ].filter((found) => found !== undefined);
    return findings.length === 0 || acknowledgedReason(handler.called) === undefined
      ? findings
      : findings.filter(({ stops }) => stops);
  });
}

function contradictionsOf(handler: Handler): Finding[] {
  const place = placeOf(handler);
  const [own, level] = [declarationOf(handler.called), declarationOf(handler.owner)];
  const opening = own.open === 'public' ? '@Public()' : '@OptionalAuth()';
  const { kind } = resolveRule(own, level);
  const isOptional = kind === 'optional' && !own.open;
  return [
    kind === 'public' &&
      namesSessionAuthGuardItself(own.open ? handler.called : handler.owner) &&
      finding(
        `${place} has SessionAuthGuard beside @Public(), which admits callers without a session. Remove one of them.`,
      ),
    own.open &&
      own.requirements.length > 0 &&
      finding(
        `${place} has ${opening}, which has no effect next to decorators that require something. Remove one of them.`,
      ),
    isOptional &&
      [own, level].some(({ namesGuard }) => namesGuard) &&
      finding(
        `${place} has SessionAuthGuard under @OptionalAuth(), which still admits callers without a session. Remove the guard, or put @OptionalAuth() only on the handlers that need no session.`,
      ),
  ].filter((found) => typeof found === 'object');
}

/**
 * Decorators of this library on parameters of a handler whose session no guard checks. A field has the user of
 * its root field; a guard of the application may set the user itself.
 */
function unguardedParametersOf(handler: Handler): Finding[] {
  if (handler.kinds.has('field') || mayHaveUser(handler)) return [];
  const factories = Object.values(decoratedParametersOf(handler)).flatMap(({ factory }) => factory ?? []);
  const decorators = new Set(factories.flatMap((factory) => parameterNameOf(factory) ?? []));
  return [...decorators].map((decorator) =>
    finding(
      `${placeOf(handler)} has ${decorator}, which is always undefined: no guard checks the session. Guard it; @OptionalAuth() admits callers with and without a session.`,
    ),
  );
}

/** Guards that set no user. Many applications register that of `@nestjs/throttler` globally. */
const WITHOUT_USER: ReadonlySet<unknown> = new Set([GUARDS_PROXY, 'ThrottlerGuard']);

function mayHaveUser(handler: Handler): boolean {
  const all = handler.guards.filter((guard) => !isNamed(guard, WITHOUT_USER));
  if (all.some((guard) => !isSessionAuthGuard(guard))) return true;
  return all.length > 0 && auditedRuleOf(handler).kind !== 'public';
}

/** Without `@CacheKey()`, the interceptor caches the replies of GET. */
const CACHED_METHODS: ReadonlySet<unknown> = new Set([RequestMethod.GET, RequestMethod.ALL]);

/** `CacheInterceptor` of `@nestjs/cache-manager` may send one user's reply of a guarded handler to another. */
function cachedForAll(handler: Handler, { interceptors }: AuditContext): Finding | undefined {
  const { owner, method } = handler;
  // That of `@CacheKey()`: a function of the call, or a text that is the key of every call of any kind.
  const key: unknown = Reflect.getMetadata('cache_module:cache_key', method);
  if (!requirementsOf(handler) || typeof key === 'function') return undefined;
  if (!key && !CACHED_METHODS.has(Reflect.getMetadata('method', method))) return undefined;
  const own = [...enhancersOf(owner, 'interceptor'), ...enhancersOf(method, 'interceptor')];
  if (![...interceptors, ...own].some(ignoresTheUser)) return undefined;
  return finding(
    `${placeOf(handler)} is cached for all users at once: the key of CacheInterceptor is the URL, or the text of @CacheKey(). Remove it, override trackBy() so that the key names the user, or give @CacheKey() a function.`,
  );
}

/** The cache key is the URL, unless a subclass overrides it. By name, because the package is not imported. */
function ignoresTheUser(interceptor: unknown): boolean {
  for (const prototype of prototypesOf(interceptor)) {
    if (classNameOf(prototype) === 'CacheInterceptor') return true;
    if (Object.hasOwn(prototype, 'trackBy') || Object.hasOwn(prototype, 'isRequestCacheable')) return false;
  }
  return false;
}
