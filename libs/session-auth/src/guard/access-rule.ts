import type { ExecutionContext, Type } from '@nestjs/common';
import type { UserRecord } from '../contract/record/user-record.js';

export interface Requirement {
  /** The decorator that declares it. A handler's requirements replace its controller's of the same kind. */
  readonly kind: string;
  /**
   * Returns whether the user meets it. Application code may return any value; only `true`, or a promise of
   * it, admits.
   */
  isMet(user: UserRecord, context: ExecutionContext, call?: RuledCall): unknown;
  /** Maximum age of a cached session for this handler, in milliseconds. */
  readonly maxAgeMs?: number;
  /** The parameters of the call that it reads, for the audit. */
  readonly parameters?: readonly string[];
  /** The decorator as text, for the access map. */
  readonly text: string;
  readonly policy?: Type;
}

/** The rule of a handler, resolved once from its decorators and those of its controller. */
export type AccessRule = { readonly kind: 'public' } | CheckedRule;

export interface CheckedRule {
  readonly kind: 'optional' | 'protected';
  readonly requirements: readonly Requirement[];
  /** Name of the authority that checks the calls, if a decorator fixes it. */
  readonly authority?: string;
  /**
   * Maximum age of a cached session, in milliseconds; without it, the lifetime of the cache entry applies.
   */
  readonly maxAgeMs?: number;
}

export interface Declaration {
  readonly open: 'public' | 'optional' | undefined;
  /** Whether `@UseGuards(SessionAuthGuard)` is on it, and no opening beside it. */
  readonly namesGuard?: boolean;
  readonly requirements: readonly Requirement[];
  /** The authority that `@SessionAuthority()` names. */
  readonly authority?: string | undefined;
}

/**
 * Returns the rule of a handler. Declarations on the handler override those on its controller. A level that
 * declares both an opening and a requirement is closed: `@Public()` has no effect next to `@Roles()` or
 * `@SessionAuthority()`, nor on a controller for a handler that declares a requirement, or names an
 * authority or the guard.
 */
export function resolveRule(handler: Declaration, controller: Declaration): AccessRule {
  const rule = declaredRule(checked(handler), checked(controller));
  const authority = handler.authority ?? controller.authority;
  if (authority === undefined) return rule;
  if (rule.kind !== 'public') return { ...rule, authority };
  return handler.authority === undefined ? rule : { ...protect([]), authority };
}

/** Returns the declarations of one level. One that names an authority is not public. */
function checked(level: Declaration): Declaration {
  return level.open === 'public' && level.authority !== undefined ? { ...level, open: undefined } : level;
}

function declaredRule(handler: Declaration, controller: Declaration): AccessRule {
  if (handler.requirements.length > 0)
    return protect(override(handler.requirements, controller.requirements));
  if (handler.open) return open(handler.open);
  if (controller.requirements.length > 0) return protect(controller.requirements);
  return controller.open && !(handler.namesGuard && controller.open === 'public')
    ? open(controller.open)
    : protect([]);
}

function open(kind: 'public' | 'optional'): AccessRule {
  return kind === 'public' ? { kind } : { kind, requirements: [] };
}

function protect(requirements: readonly Requirement[]): CheckedRule {
  const limits = requirements.flatMap(({ maxAgeMs }) => maxAgeMs ?? []);
  return { kind: 'protected', requirements, ...(limits.length > 0 && { maxAgeMs: Math.min(...limits) }) };
}

function override(own: readonly Requirement[], inherited: readonly Requirement[]): Requirement[] {
  return [...own, ...inherited.filter(({ kind }) => !own.some((requirement) => requirement.kind === kind))];
}

/** A requirement that could not be evaluated: it threw, rejected, or took too long. */
export class FailedRule {
  /** @param error what it threw, which may be anything */
  constructor(
    readonly requirement: Requirement,
    readonly error: unknown,
    readonly isLate = false,
  ) {}
}

/** Returns the name of a requirement and of its handler: `@Roles(approver) of Openings.list`. */
export function subjectOf(requirement: Requirement, context: ExecutionContext): string {
  return `${requirement.text} of ${context.getClass().name}.${context.getHandler().name}`;
}

/** Returns why a rule failed: the class of its error, whose message may contain a secret. */
export function failureOf({ error, isLate }: FailedRule): string {
  return isLate ? 'took longer than timeoutMs' : `failed with ${classNameOf(error)}`;
}

const CLASS_NAME = /^[\w$]{1,100}$/;

/** Returns the name of an error's class. Anything may be thrown, even an object whose members throw. */
function classNameOf(error: unknown): string {
  try {
    const name: unknown = (error as object).constructor.name;
    return typeof name === 'string' && CLASS_NAME.test(name) ? name : 'an error of an unnamed class';
  } catch {
    return 'an error of an unnamed class';
  }
}

/** Whether a user meets the requirements of a handler, or the one that could not be evaluated. */
export type RuleResult = boolean | FailedRule;

export interface RuledCall {
  readonly requirements: readonly Requirement[];
  readonly user: UserRecord;
  readonly context: ExecutionContext;
  readonly request: object;
  localUser?: unknown;
  unmet?: Requirement;
  /** Time for each requirement that returns a promise, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Returns whether the user meets all requirements from index `first` on: a promise only if a requirement
 * returns one. Never throws nor rejects.
 */
export function meetsAll(call: RuledCall, first = 0): RuleResult | Promise<RuleResult> {
  const requirement = call.requirements[first];
  if (requirement === undefined) return true;
  try {
    const met = requirement.isMet(call.user, call.context, call);
    if (met instanceof Promise)
      return meetsLater(requirement, met, call.timeoutMs).then((result) => orNext(call, first, result));
    return orNext(call, first, met === true);
  } catch (error) {
    return new FailedRule(requirement, error);
  }
}

function orNext(call: RuledCall, index: number, result: RuleResult): RuleResult | Promise<RuleResult> {
  if (result === true) return meetsAll(call, index + 1);
  const unmet = call.requirements[index];
  if (result === false && unmet) call.unmet = unmet;
  return result;
}

const LATE = Symbol('late');

async function meetsLater(
  requirement: Requirement,
  pending: Promise<unknown>,
  timeoutMs: number,
): Promise<RuleResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, LATE).unref();
  });
  try {
    const met = await Promise.race([pending, late]);
    return met === LATE ? new FailedRule(requirement, undefined, true) : met === true;
  } catch (error) {
    return new FailedRule(requirement, error);
  } finally {
    clearTimeout(timer);
  }
}
