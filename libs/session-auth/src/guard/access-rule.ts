import type { ExecutionContext, Type } from '@nestjs/common';
import { isThenable } from '../contract/late-results.js';
import type { UserRecord } from '../contract/record/user-record.js';

export interface Requirement {
  /** The decorator that declares it. A handler's requirements replace its controller's of the same kind. */
  readonly kind: string;
  /** Application code may return any value; only `true`, or a promise or a query of it, admits. */
  isMet(call: RuledCall): unknown;
  /** Maximum age of a cached session for this handler, in milliseconds. */
  readonly maxAgeMs?: number;
  /** The decorator as text, for the access map. */
  readonly text: string;
  readonly policy?: Type;
}

export type AccessRule = { readonly kind: 'public' } | CheckedRule;

export interface CheckedRule {
  readonly kind: 'optional' | 'protected';
  readonly requirements: readonly Requirement[];
  /** Maximum age of a cached session, in milliseconds. @default the lifetime of the cache entry */
  readonly maxAgeMs?: number | undefined;
  /** Set with `@ReportOnly()`: the guard denies nothing. */
  readonly isReportOnly?: true;
}

export function isReportOnly(rule: AccessRule): boolean {
  return rule.kind !== 'public' && rule.isReportOnly === true;
}

/** The declarations of a level: a handler, a class, or a class that it extends. */
export interface Declaration {
  readonly open: 'public' | 'optional' | undefined;
  /** Whether `@UseGuards(SessionAuthGuard)` is on it, and no opening beside it. */
  readonly namesGuard?: boolean;
  /** `false` if it names the guard, a rule or an opening, and no `@ReportOnly()`; `undefined` if it names none. */
  readonly reportOnly?: boolean | undefined;
  readonly requirements: readonly Requirement[];
}

/**
 * Returns what a class declares with the class that it extends. A guard that it names replaces `@Public()` of
 * that class.
 */
export function inherit(own: Declaration, inherited: Declaration): Declaration {
  const isOpened = own.open !== undefined;
  const isClosed = own.namesGuard === true && inherited.open === 'public';
  return {
    ...narrow(own, inherited),
    open: own.open ?? (isClosed ? undefined : inherited.open),
    namesGuard: !isOpened && (own.namesGuard === true || inherited.namesGuard === true),
  };
}

/** Declarations of the narrower level replace the same of the wider. Openings have rules of their own. */
function narrow(own: Declaration, wider: Declaration): Pick<Declaration, 'reportOnly' | 'requirements'> {
  return {
    requirements: override(own.requirements, wider.requirements),
    reportOnly: own.reportOnly ?? wider.reportOnly,
  };
}

/**
 * Declarations on the handler override those on its controller. A level that declares both an opening and a
 * requirement is closed: `@Public()` has no effect next to `@Roles()`, nor on a controller for a handler that
 * declares a requirement or names the guard.
 */
export function resolveRule(handler: Declaration, controller: Declaration): AccessRule {
  const open = openingOf(handler, controller);
  if (open === 'public') return { kind: open };
  const { reportOnly, ...all } = narrow(handler, controller);
  const requirements = open ? [] : all.requirements;
  const limits = requirements.flatMap(({ maxAgeMs }) => maxAgeMs ?? []);
  return {
    kind: open ?? 'protected',
    requirements,
    maxAgeMs: limits.length > 0 ? Math.min(...limits) : undefined,
    ...(reportOnly && { isReportOnly: true }),
  };
}

function openingOf(handler: Declaration, controller: Declaration): Declaration['open'] {
  if (handler.requirements.length > 0) return undefined;
  if (handler.open) return handler.open;
  if (controller.requirements.length > 0) return undefined;
  return controller.open === 'public' && handler.namesGuard ? undefined : controller.open;
}

function override(own: readonly Requirement[], inherited: readonly Requirement[]): Requirement[] {
  return [...own, ...inherited.filter(({ kind }) => !own.some((requirement) => requirement.kind === kind))];
}

interface UnmetRule {
  readonly requirement: Requirement;
  /** Why it could not be evaluated: what it threw, which may be anything, or that it took too long. */
  readonly failure?: { readonly error?: unknown; readonly isLate?: true };
}

export type RuleResult = true | UnmetRule;

/** As in `@Roles(approver) of Openings.list`. */
export function subjectOf(requirement: Requirement, context: ExecutionContext): string {
  return `${requirement.text} of ${context.getClass().name}.${context.getHandler().name}`;
}

/** Returns why a rule failed: the class of its error, whose message may contain a secret. */
export function reasonOf({ error, isLate }: NonNullable<UnmetRule['failure']>): string {
  return isLate ? 'took longer than timeoutMs' : `failed with ${classNameOf(error)}`;
}

const CLASS_NAME = /^[\w$]{1,100}$/;

/** Returns the name of an error's class. Anything may be thrown, even an object whose members throw. */
function classNameOf(error: unknown): string {
  try {
    const name: unknown = (error as object).constructor.name;
    if (typeof name === 'string' && CLASS_NAME.test(name)) return name;
  } catch {
    // It has no name either.
  }
  return 'an error of an unnamed class';
}

/** A call whose caller is authenticated: by a session, or by a subclass of the guard. */
export interface RuledCall {
  readonly requirements: readonly Requirement[];
  readonly user: UserRecord;
  readonly context: ExecutionContext;
  readonly request: object;
  /** The application's own user, once it is loaded. */
  localUser?: unknown;
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
  let met: unknown;
  try {
    met = requirement.isMet(call);
  } catch (error) {
    return { requirement, failure: { error } };
  }
  if (met === true) return meetsAll(call, first + 1);
  if (!isThenable(met)) return { requirement };
  return settle(requirement, met, call.timeoutMs).then((result) =>
    result === true ? meetsAll(call, first + 1) : result,
  );
}

const LATE = Symbol('late');

async function settle(
  requirement: Requirement,
  pending: PromiseLike<unknown>,
  timeoutMs: number,
): Promise<RuleResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, LATE).unref();
  });
  try {
    const met = await Promise.race([pending, late]);
    return met === LATE ? { requirement, failure: { isLate: true } } : met === true || { requirement };
  } catch (error) {
    return { requirement, failure: { error } };
  } finally {
    clearTimeout(timer);
  }
}
