import 'reflect-metadata';
import { acknowledgedReason, declarationOf } from '../guard/access-metadata.js';
import { resolveRule } from '../guard/access-rule.js';
import type { Handler } from '../guard/handlers.js';
import type { AuditContext } from './audit-context.js';
import { requirementsOf } from './audited-handlers.js';
import { sharesCachedReplies } from './cached-replies.js';
import { finding, type Finding, placeOf } from './finding.js';
import { ineffectiveRulesOf, servedCalls } from './ineffective-rules.js';
import { missingParametersOf, unguardedParametersOf } from './parameters.js';

/** Returns the declarations of some handlers that have no effect, or that are not enforced everywhere. */
export function findingsOf(context: AuditContext, isAudited: (handler: Handler) => boolean): Finding[] {
  const served = servedCalls(context);
  return context.handlers.filter(isAudited).flatMap((handler) => {
    const findings = [
      ...ineffectiveRulesOf(handler, context, served),
      ...contradictionsOf(handler),
      ...disjointRolesOf(handler),
      ...parameterFindings(handler, context),
      ...(sharesCachedReplies(handler, context) ? [cachedForAll(handler)] : []),
    ];
    return acknowledgedReason(handler.called) === undefined
      ? findings
      : findings.filter(({ stops }) => stops);
  });
}

function contradictionsOf(handler: Handler): Finding[] {
  const place = placeOf(handler);
  const [own, level] = [declarationOf(handler.called), declarationOf(handler.owner)];
  const opening = own.open === 'public' ? '@Public()' : '@OptionalAuth()';
  const isOptional = resolveRule(own, level).kind === 'optional' && !own.open;
  return [
    own.open === 'public' &&
      own.authority !== undefined &&
      finding(`${place} has @Public(), which has no effect next to @SessionAuthority(). Remove one of them.`),
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

/** A user has one role and one sub-role. */
const OF_ONE_VALUE = ['Roles', 'SubRoles'];

/** The same decorator twice on one level: both must be met, by a user who has a name of each. */
function disjointRolesOf(handler: Handler): Finding[] {
  const requirements = requirementsOf(handler) ?? [];
  return OF_ONE_VALUE.flatMap((kind) => {
    const texts = requirements.filter((each) => each.kind === kind).map(({ text }) => text);
    const [names = [], ...others] = texts.map((text) => text.slice(kind.length + 2, -1).split(', '));
    return others.length === 0 || names.some((name) => others.every((other) => other.includes(name)))
      ? []
      : finding(
          `${placeOf(handler)} has ${texts.join(' and ')}, and no user meets them all: every call is denied. Name all in one decorator.`,
        );
  });
}

function parameterFindings(handler: Handler, context: AuditContext): Finding[] {
  const place = placeOf(handler);
  return [
    ...missingParametersOf(handler, context).map(({ parameter, path }) =>
      finding(
        `${place} has @CclScope() with the parameter '${parameter}', which its path ${path} does not have: every call is denied. Name a parameter of the path.`,
      ),
    ),
    ...unguardedParametersOf(handler).map((decorator) =>
      finding(
        `${place} has ${decorator}, which is always undefined: no guard checks the session. Guard it; @OptionalAuth() admits callers with and without a session.`,
      ),
    ),
  ];
}

function cachedForAll(handler: Handler): Finding {
  return finding(
    `${placeOf(handler)} is cached for all users at once: the key of CacheInterceptor is the URL, or the text of @CacheKey(). Remove it, override trackBy() so that the key names the user, or give @CacheKey() a function.`,
  );
}
