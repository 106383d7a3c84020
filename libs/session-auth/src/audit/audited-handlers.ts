import type { AccessRule, Requirement } from '../guard/access-rule.js';
import { isSessionAuthGuard } from '../guard/enhancers.js';
import { ruleOf } from '../guard/access-rules.js';
import { guardsNamedBy, type Handler } from '../guard/handlers.js';

const rules = new WeakMap<Handler, AccessRule>();

/** Returns the rule of a handler. Each audit lists the handlers again, and most findings ask for their rules. */
export function auditedRuleOf(handler: Handler): AccessRule {
  const known = rules.get(handler);
  if (known) return known;
  const rule = ruleOf(handler);
  rules.set(handler, rule);
  return rule;
}

/** Returns the requirements of a handler; `undefined` if it is open to callers without a session. */
export function requirementsOf(handler: Handler): readonly Requirement[] | undefined {
  const rule = auditedRuleOf(handler);
  return rule.kind === 'protected' && isGuarded(handler) ? rule.requirements : undefined;
}

/** Returns whether Nest runs the session guard on a handler, unless it is a field or a reference of GraphQL. */
export function isGuarded({ guards }: Handler): boolean {
  return guards.some(isSessionAuthGuard);
}

/** Returns whether a handler is meant to be guarded: a rule applies the guard, and may have lost it since. */
export function namesGuard(handler: Handler): boolean {
  if (guardsNamedBy(handler).some(isSessionAuthGuard)) return true;
  const rule = auditedRuleOf(handler);
  if (rule.kind !== 'protected') return rule.kind === 'optional';
  return rule.requirements.length > 0;
}

/** Returns whether a handler resolves a field of an object, or a reference: nothing that a call names. */
export function isBelowRoot({ kinds }: Handler): boolean {
  return kinds.has('field') || kinds.has('reference');
}

/**
 * The access that the session guard gives: `protected` needs a session, `optional` and `public` are those of
 * `@OptionalAuth()` and `@Public()`, and `unguarded` has no session guard.
 */
export type Access = 'protected' | 'optional' | 'public' | 'unguarded';

export function accessBy(
  rule: Exclude<Access, 'unguarded'>,
  handler: Handler,
  { fieldsAreGuarded }: { readonly fieldsAreGuarded: boolean },
): Access {
  if (isBelowRoot(handler) && !fieldsAreGuarded) return 'unguarded';
  return rule === 'public' || isGuarded(handler) ? rule : 'unguarded';
}

/** Resolves the object type of a value, and returns none of its data. */
export const TYPE_RESOLVER = '__resolveType';

export function includeAll(some: readonly Requirement[], others: readonly Requirement[]): boolean {
  return others.every((one) => some.some((other) => isSame(one, other)));
}

/** A function has no text that distinguishes it from another one. */
function isSame(one: Requirement, other: Requirement): boolean {
  if (one === other) return true;
  if (one.kind !== other.kind || one.text !== other.text) return false;
  return one.kind !== 'Authorize' || (one.policy !== undefined && one.policy === other.policy);
}

/** Nest takes both classes and instances as guards and interceptors. */
export function prototypesOf(enhancer: unknown): object[] {
  const prototypes: object[] = [];
  let next = (typeof enhancer === 'function' ? enhancer.prototype : enhancer) as object | null | undefined;
  for (; next; next = Object.getPrototypeOf(next) as object | null) prototypes.push(next);
  return prototypes;
}

/** Returns whether an enhancer is of a class, or of one that extends it: by name, without loading the class. */
export function isNamed(enhancer: unknown, names: ReadonlySet<unknown>): boolean {
  return prototypesOf(enhancer).some((prototype) => names.has(classNameOf(prototype)));
}

export function decoratedParametersOf({
  owner,
  name,
}: Handler): Record<string, { readonly factory?: object }> {
  return (Reflect.getMetadata('__routeArguments__', owner, name) ?? {}) as Record<
    string,
    { readonly factory?: object }
  >;
}

/** The name of the class through which Nest runs the global guards on messages and gateways. */
export const GUARDS_PROXY = 'ApplicationGuardsProxy';

export function classNameOf(prototype: object): string | undefined {
  return (prototype.constructor as { readonly name: string } | undefined)?.name;
}
