import 'reflect-metadata';

/** Nest's metadata keys. Nest calls what they name the enhancers of a handler. */
const KEYS = {
  guard: '__guards__',
  interceptor: '__interceptors__',
  filter: '__exceptionFilters__',
} as const;

export const ENHANCER_KEY = /^__(guards|interceptors|pipes|exceptionFilters)__$/;

/** Those of a handler, of a class, or of a class that it extends. */
export function enhancersOf(target: object, kind: keyof typeof KEYS): readonly unknown[] {
  const enhancers: unknown = Reflect.getMetadata(KEYS[kind], target);
  return Array.isArray(enhancers) ? enhancers : [];
}

/**
 * A metadata key, because all copies of this package share it, and subclasses of the guard inherit its value.
 */
const GUARD_MARK = 'nestjs-session-auth:guard';

export function markSessionAuthGuard(guard: object): void {
  Reflect.defineMetadata(GUARD_MARK, true, guard);
}

/** @param guard a class or an instance, of any copy of this package */
export function isSessionAuthGuard(guard: unknown): boolean {
  const guardClass: unknown = typeof guard === 'object' && guard !== null ? guard.constructor : guard;
  return typeof guardClass === 'function' && Reflect.hasMetadata(GUARD_MARK, guardClass);
}

export function namesSessionAuthGuard(target: object): boolean {
  return enhancersOf(target, 'guard').some(isSessionAuthGuard);
}

/** Not on a class that it extends: Nest adds the guards of a class to those that it inherits. */
export function namesSessionAuthGuardItself(target: object): boolean {
  if (!Reflect.hasOwnMetadata(KEYS.guard, target)) return false;
  const parent = Object.getPrototypeOf(target) as object;
  const [all, inherited] = [target, parent].map(
    (level) => enhancersOf(level, 'guard').filter(isSessionAuthGuard).length,
  ) as [number, number];
  return all > inherited;
}

const APPLIED_BY_RULE = 'nestjs-session-auth:applied-by-rule';

/** Applies the session guard to what has a rule, unless it names one. */
export function applyBesideRule(target: object, guard: object): void {
  const guards = enhancersOf(target, 'guard');
  if (guards.some(isSessionAuthGuard)) return;
  Reflect.defineMetadata(KEYS.guard, [...guards, guard], target);
  Reflect.defineMetadata(APPLIED_BY_RULE, guard, target);
}

/**
 * Moves the guard that a rule has applied behind the application's own session guards, whichever decorator is
 * above: they may admit callers without a session, and it finds those admitted. No other guard moves: each may
 * rely on those before it.
 */
export function moveBehindOwnGuards(target: object): void {
  const guards = enhancersOf(target, 'guard');
  const applied: unknown = Reflect.getMetadata(APPLIED_BY_RULE, target);
  const at = guards.indexOf(applied);
  const last = guards.findLastIndex((guard) => guard !== applied && isSessionAuthGuard(guard));
  if (at === -1 || last < at) return;
  const moved = guards.toSpliced(last + 1, 0, applied).toSpliced(at, 1);
  Reflect.defineMetadata(KEYS.guard, moved, target);
}

/** Adds an enhancer to a class, before those that its decorators name, and at most once. */
export function addFirst(target: object, kind: keyof typeof KEYS, enhancer: object): void {
  const others = enhancersOf(target, kind);
  if (!others.includes(enhancer)) Reflect.defineMetadata(KEYS[kind], [enhancer, ...others], target);
}
