import 'reflect-metadata';
import { declarationOf, decoratedMethod } from '../../guard/access/access-metadata.js';
import { resolveRule } from '../../guard/access/access-rule.js';
import type { Handler } from '../handlers/handlers.js';
import type { AuditContext } from './audit-context.js';
import { sharesCachedReplies } from './cached-replies.js';
import { missingParametersOf } from './missing-parameters.js';
import { prototypesOf } from './prototypes.js';
import { unguardedFieldsOf } from './unguarded-fields.js';
import { unguardedParametersOf } from './unguarded-parameters.js';

/**
 * Returns the findings for the handlers of an application that pass a test: declarations that have no effect, or that are not enforced everywhere.
 * Fields of GraphQL are reached through all handlers.
 */
export function findingsOf(handlers: readonly Handler[], context: AuditContext, isAudited: (handler: Handler) => boolean): string[] {
  const findings = handlers.filter(isAudited).flatMap((handler) => findingsOfOne(handler, context));
  for (const { handler, through } of unguardedFieldsOf(handlers, context)) {
    if (!isAudited(handler)) continue;
    const path = through === undefined ? '' : ` through ${through}`;
    findings.push(
      `${placeOf(handler)} can be reached${path} without its check: Nest runs no guards on fields and references. Set fieldResolverEnhancers: ['guards'] in GraphQLModule, or mark it @Public().`,
    );
  }
  return findings;
}

function findingsOfOne(handler: Handler, context: AuditContext): string[] {
  const findings = contradictionsOf(handler);
  const place = placeOf(handler);
  if (hasLostItsRule(handler)) {
    findings.push(
      `${place} has lost its rule: a decorator above the rule replaces the method without its metadata. Put the rule above that decorator.`,
    );
  }
  if (sharesCachedReplies(handler, context)) {
    findings.push(
      `${place} is cached for all users at once: the key of CacheInterceptor is the URL, or the text of @CacheKey(). Remove it, override trackBy() so that the key names the user, or give @CacheKey() a function.`,
    );
  }
  return [...findings, ...parameterFindings(handler, context)];
}

function contradictionsOf(handler: Handler): string[] {
  const findings: string[] = [];
  const place = placeOf(handler);
  const own = declarationOf(handler.method);
  if (own.open === 'public' && own.authority !== undefined) {
    findings.push(`${place} has @Public(), which has no effect next to @SessionAuthority(). Remove one of them.`);
  }
  if (own.open && own.requirements.length > 0) {
    const opening = own.open === 'public' ? '@Public()' : '@OptionalAuth()';
    findings.push(`${place} has ${opening}, which has no effect next to decorators that require something. Remove one of them.`);
  }
  const level = declarationOf(handler.owner);
  if (resolveRule(own, level).kind === 'optional' && !own.open && (own.namesGuard || level.namesGuard)) {
    findings.push(
      `${place} has SessionAuthGuard under @OptionalAuth(), which still admits callers without a session. Remove the guard, or put @OptionalAuth() only on the handlers that need no session.`,
    );
  }
  return findings;
}

function parameterFindings(handler: Handler, context: AuditContext): string[] {
  const findings: string[] = [];
  const place = placeOf(handler);
  for (const { parameter, path } of missingParametersOf(handler, context)) {
    findings.push(
      `${place} has @CclScope() with the parameter '${parameter}', which its path ${path} does not have: every call is denied. Name a parameter of the path.`,
    );
  }
  for (const decorator of unguardedParametersOf(handler, context)) {
    findings.push(
      `${place} has ${decorator}, which is always undefined: no guard checks the session. Guard it; @OptionalAuth() admits callers with and without a session.`,
    );
  }
  return findings;
}

function placeOf({ owner, name }: Handler): string {
  return `${owner.name}.${name}`;
}

/** Rules are metadata of functions. A decorator that wraps the function and copies its metadata keeps the rule. */
function hasLostItsRule({ owner, name, method }: Handler): boolean {
  const home = prototypesOf(owner).find((prototype) => Object.hasOwn(prototype, name));
  const decorated = home && decoratedMethod(home, name);
  if (!decorated) return false;
  const [before, now] = [declarationOf(decorated), declarationOf(method)];
  return (
    before.open !== now.open ||
    before.authority !== now.authority ||
    before.requirements.some((requirement) => !now.requirements.includes(requirement))
  );
}
