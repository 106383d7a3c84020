import type { ExecutionContext, Type } from '@nestjs/common';
import type { UserRecord } from '../../contract/record/user-record.js';

/** A condition that a user must meet. */
export interface Requirement {
  /** The decorator that declares it. A handler's requirements replace its controller's of the same kind. */
  readonly kind: string;
  /** Returns whether the user meets it. Application code may return any value; only `true`, or a promise of it, admits. */
  isMet(user: UserRecord, context: ExecutionContext): unknown;
  /** Maximum age of a cached session for this handler, in milliseconds. */
  readonly maxAgeMs?: number;
  /** The parameters of the call that it reads, for the audit. */
  readonly parameters?: readonly string[];
  /** The decorator as text, for the access map. */
  readonly text?: string;
  /** The class of the policy that it asks. */
  readonly policy?: Type;
}

/** The rule of a handler, resolved once from its decorators and those of its controller. */
export type AccessRule = { readonly kind: 'public' } | OptionalRule | ProtectedRule;

/** The registration that checks the calls of a handler. */
interface CheckedRule {
  /** Its name, if a decorator fixes it. */
  readonly authority?: string;
}

interface OptionalRule extends CheckedRule {
  readonly kind: 'optional';
  readonly requirements: readonly [];
}

interface ProtectedRule extends CheckedRule {
  readonly kind: 'protected';
  readonly requirements: readonly Requirement[];
  /** Maximum age of a cached session, in milliseconds; without it, the lifetime of the cache entry applies. */
  readonly maxAgeMs?: number;
}

/** The declarations of the decorators on one handler or one controller. */
export interface Declaration {
  readonly open: 'public' | 'optional' | undefined;
  /** Whether `@UseGuards(SessionAuthGuard)` is on it, and no opening beside it. */
  readonly namesGuard?: boolean;
  readonly requirements: readonly Requirement[];
  /** The registration that `@SessionAuthority()` names. */
  readonly authority?: string | undefined;
}

/**
 * Returns the rule of a handler. Declarations on the handler override those on its controller. A level that declares both an opening and a
 * requirement is closed: `@Public()` has no effect next to `@Roles()` or `@SessionAuthority()`, nor on a controller for a handler that declares
 * a requirement, or names a registration or the guard.
 */
export function resolveRule(handler: Declaration, controller: Declaration): AccessRule {
  const rule = ruleOf(checked(handler), checked(controller));
  const authority = handler.authority ?? controller.authority;
  if (authority === undefined) return rule;
  if (rule.kind !== 'public') return { ...rule, authority };
  return handler.authority === undefined ? rule : { ...protect([]), authority };
}

/** Returns the declarations of one level. One that names a registration is not public. */
function checked(level: Declaration): Declaration {
  return level.open === 'public' && level.authority !== undefined ? { ...level, open: undefined } : level;
}

function ruleOf(handler: Declaration, controller: Declaration): AccessRule {
  if (handler.requirements.length > 0) return protect(override(handler.requirements, controller.requirements));
  if (handler.open) return open(handler.open);
  if (controller.requirements.length > 0) return protect(controller.requirements);
  return controller.open && !(handler.namesGuard && controller.open === 'public') ? open(controller.open) : protect([]);
}

function open(kind: 'public' | 'optional'): AccessRule {
  return kind === 'public' ? { kind } : { kind, requirements: [] };
}

function protect(requirements: readonly Requirement[]): ProtectedRule {
  const limits = requirements.flatMap(({ maxAgeMs }) => maxAgeMs ?? []);
  return { kind: 'protected', requirements, ...(limits.length > 0 && { maxAgeMs: Math.min(...limits) }) };
}

function override(own: readonly Requirement[], inherited: readonly Requirement[]): Requirement[] {
  return [...own, ...inherited.filter(({ kind }) => !own.some((requirement) => requirement.kind === kind))];
}

/** Returns whether the user meets all requirements from index `first` on: a promise only if a requirement returns one. One that throws is not met. */
export function meetsAll(
  requirements: readonly Requirement[],
  user: UserRecord,
  context: ExecutionContext,
  first = 0,
): boolean | Promise<boolean> {
  for (let index = first; index < requirements.length; index += 1) {
    const met = meets(requirements[index], user, context);
    if (met instanceof Promise) return met.then((result: unknown) => result === true && meetsAll(requirements, user, context, index + 1));
    if (met !== true) return false;
  }
  return true;
}

function meets(requirement: Requirement | undefined, user: UserRecord, context: ExecutionContext): unknown {
  try {
    const met = requirement?.isMet(user, context);
    return met instanceof Promise ? met.catch(() => false) : met;
  } catch {
    return false;
  }
}
