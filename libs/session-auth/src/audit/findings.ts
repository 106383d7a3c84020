import 'reflect-metadata';
import { acknowledgedReason, declarationOf } from '../guard/access-metadata.js';
import { resolveRule } from '../guard/access-rule.js';
import { namesSessionAuthGuard } from '../guard/enhancers.js';
import type { Handler } from '../guard/handlers.js';
import type { AuditContext } from './audit-context.js';
import { sharesCachedReplies } from './cached-replies.js';
import { finding, ineffectiveRulesOf, placeOf, servedCalls, type Finding } from './ineffective-rules.js';
import { unguardedFieldsOf, type UnguardedField } from './unguarded-fields.js';
import { missingParametersOf, unguardedParametersOf } from './parameters.js';

/**
 * Returns the findings for the handlers of an application that pass a test: declarations that have no effect,
 * or that are not enforced everywhere. Fields of GraphQL are reached through all handlers.
 */
export function findingsOf(
  handlers: readonly Handler[],
  context: AuditContext,
  isAudited: (handler: Handler) => boolean,
): Finding[] {
  const fields = unguardedFieldsOf(handlers, context);
  const served = servedCalls(handlers, context);
  return handlers.filter(isAudited).flatMap((handler) => {
    const findings = [
      ...ineffectiveRulesOf(handler, handlers, context, served),
      ...fields.filter((field) => field.handler === handler).map(fieldFinding),
      ...contradictionsOf(handler),
      ...parameterFindings(handler, context),
      ...cacheFindings(handler, context),
    ];
    return acknowledgedReason(handler.called) === undefined
      ? findings
      : findings.filter(({ stops }) => stops);
  });
}

/** A rule of the class may be meant for its root fields; one of the field itself is not. */
function fieldFinding({ handler, through }: UnguardedField): Finding {
  const path = through === undefined ? '' : ` through ${through}`;
  return finding(
    `${placeOf(handler)} can be reached${path} without its check: Nest runs no guards on fields and references. Set fieldResolverEnhancers: ['guards'] in GraphQLModule, or mark it @Public().`,
    through !== undefined && namesSessionAuthGuard(handler.called),
  );
}

function contradictionsOf(handler: Handler): Finding[] {
  const findings: Finding[] = [];
  const place = placeOf(handler);
  const own = declarationOf(handler.called);
  if (own.open === 'public' && own.authority !== undefined) {
    findings.push(
      finding(`${place} has @Public(), which has no effect next to @SessionAuthority(). Remove one of them.`),
    );
  }
  if (own.open && own.requirements.length > 0) {
    const opening = own.open === 'public' ? '@Public()' : '@OptionalAuth()';
    findings.push(
      finding(
        `${place} has ${opening}, which has no effect next to decorators that require something. Remove one of them.`,
      ),
    );
  }
  const level = declarationOf(handler.owner);
  if (resolveRule(own, level).kind === 'optional' && !own.open && (own.namesGuard || level.namesGuard)) {
    findings.push(
      finding(
        `${place} has SessionAuthGuard under @OptionalAuth(), which still admits callers without a session. Remove the guard, or put @OptionalAuth() only on the handlers that need no session.`,
      ),
    );
  }
  return findings;
}

function parameterFindings(handler: Handler, context: AuditContext): Finding[] {
  const place = placeOf(handler);
  return [
    ...missingParametersOf(handler, context).map(({ parameter, path }) =>
      finding(
        `${place} has @CclScope() with the parameter '${parameter}', which its path ${path} does not have: every call is denied. Name a parameter of the path.`,
      ),
    ),
    ...unguardedParametersOf(handler, context).map((decorator) =>
      finding(
        `${place} has ${decorator}, which is always undefined: no guard checks the session. Guard it; @OptionalAuth() admits callers with and without a session.`,
      ),
    ),
  ];
}

function cacheFindings(handler: Handler, context: AuditContext): Finding[] {
  if (!sharesCachedReplies(handler, context)) return [];
  return [
    finding(
      `${placeOf(handler)} is cached for all users at once: the key of CacheInterceptor is the URL, or the text of @CacheKey(). Remove it, override trackBy() so that the key names the user, or give @CacheKey() a function.`,
    ),
  ];
}
