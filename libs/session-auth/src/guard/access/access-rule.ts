import type { ExecutionContext } from '@nestjs/common';
import type { UserRecord } from '../../contract/record/user-record.js';

/** What a user must meet to enter. */
export interface Requirement {
  /** Decorator that it came from: a handler's replace its controller's of the same kind. */
  readonly kind: string;
  /** Whether the user meets it. It may be the application's own code, so anything may come back; only `true` admits. */
  isMet(user: UserRecord, context: ExecutionContext): unknown;
  /** Milliseconds that a remembered session may be old for this handler. */
  readonly maxAgeMs?: number;
}

/** What a handler asks of its caller. Resolved once, from the handler's decorators over its controller's. */
export type AccessRule = { readonly kind: 'public' } | { readonly kind: 'optional'; readonly requirements: readonly [] } | ProtectedRule;

interface ProtectedRule {
  readonly kind: 'protected';
  readonly requirements: readonly Requirement[];
  /** Milliseconds that a remembered session may be old; without it, as old as its lifetime allows. */
  readonly maxAgeMs?: number;
}

/** What the decorators on one handler or one controller say. */
export interface Declaration {
  readonly open: 'public' | 'optional' | undefined;
  readonly requirements: readonly Requirement[];
}

/**
 * One rule out of two levels. A handler's word wins over its controller's; a level that opens and requires at once is closed:
 * `@Public()` never opens what names roles on the same level, nor what its handler closes.
 */
export function resolveRule(handler: Declaration, controller: Declaration): AccessRule {
  if (handler.requirements.length > 0) return protect(override(handler.requirements, controller.requirements));
  if (handler.open) return open(handler.open);
  if (controller.requirements.length > 0) return protect(controller.requirements);
  return controller.open ? open(controller.open) : protect([]);
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

/** Whether the user meets all of them, from the one at `first` on. Waits only for those that do; one that throws is not met. */
export function meetsAll(
  requirements: readonly Requirement[],
  user: UserRecord,
  context: ExecutionContext,
  first = 0,
): boolean | Promise<boolean> {
  for (let index = first; index < requirements.length; index += 1) {
    const met = meets(requirements[index], user, context);
    if (met instanceof Promise) return met.then((yes: unknown) => yes === true && meetsAll(requirements, user, context, index + 1));
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
