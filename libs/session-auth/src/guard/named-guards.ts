import 'reflect-metadata';
import { UseGuards } from '@nestjs/common';
import { SessionAuthGuard } from './session-auth.guard.js';

/** Where Nest keeps what `@UseGuards()` names. */
const GUARDS_METADATA = '__guards__';
/** Metadata are shared by all copies of this package, and inherited by subclasses of the guard. */
const GUARD_MARK = 'nestjs-session-auth:guard';

Reflect.defineMetadata(GUARD_MARK, true, SessionAuthGuard);

/** Whether it is `SessionAuthGuard`, of any copy of this package, or a subclass; as a class or as an instance. */
export function isSessionAuthGuard(guard: unknown): boolean {
  const guardClass: unknown = typeof guard === 'object' && guard !== null ? guard.constructor : guard;
  return typeof guardClass === 'function' && Reflect.hasMetadata(GUARD_MARK, guardClass);
}

/** Whether `@UseGuards()` on a class, on a class that it extends, or on a handler names the guard. */
export function namesSessionAuthGuard(target: object): boolean {
  return guardsOf(target).some(isSessionAuthGuard);
}

/** Applies the guard to a class or a handler, as `@UseGuards(SessionAuthGuard)` does, unless its guards name it already. */
export function applySessionAuthGuard(target: object): void {
  if (!namesSessionAuthGuard(target)) applyGuard(SessionAuthGuard, target);
}

/** Applies a guard class to a class or a handler, at most once. */
export function applyGuard(guard: Parameters<typeof UseGuards>[0], target: object): void {
  if (!guardsOf(target).includes(guard)) UseGuards(guard)(target as () => void);
}

function guardsOf(target: object): unknown[] {
  const guards: unknown = Reflect.getMetadata(GUARDS_METADATA, target);
  return Array.isArray(guards) ? guards : [];
}
