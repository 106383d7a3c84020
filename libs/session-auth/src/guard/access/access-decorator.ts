import 'reflect-metadata';
import { UseGuards } from '@nestjs/common';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { SessionAuthGuard } from '../session-auth.guard.js';
import { declareOpen, declareRequirement, noteDecorated, type RequirementKind } from './access-metadata.js';
import type { Requirement } from './access-rule.js';

type AccessDecorator = ClassDecorator & MethodDecorator;

/** A decorator that leaves a handler or a controller open. It applies no guard. */
export function publicAccess(): AccessDecorator {
  return decorate((target) => declareOpen(target, 'public'));
}

/** A decorator that admits callers with and without a session. It applies the guard, which finds the user. */
export function optionalAccess(): AccessDecorator {
  return ruled((target) => declareOpen(target, 'optional'));
}

/** A decorator that requires something, and applies the guard that checks it. Used twice on one target, both hold. */
export function requiring(requirement: Requirement & { readonly kind: RequirementKind }): AccessDecorator {
  return ruled((target) => declareRequirement(target, requirement));
}

function ruled(declare: (target: object) => void): AccessDecorator {
  return decorate((target, prototype, name) => {
    declare(target);
    applySessionAuthGuard(target);
    if (name !== undefined) noteDecorated(prototype, name, target);
  });
}

function decorate(mark: (target: object, prototype: object, name: string | symbol | undefined) => void): AccessDecorator {
  return <Handler>(target: object, name?: string | symbol, descriptor?: TypedPropertyDescriptor<Handler>) =>
    mark(name === undefined ? target : methodIn(descriptor?.value, name), target, name);
}

/** Nest calls methods, and their metadata are on the function: a decorator on anything else would have no effect. */
function methodIn(method: unknown, name: string | symbol): object {
  if (typeof method === 'function') return method;
  throw new InvalidConfigurationError(
    `An access decorator is on ${String(name)}, which is not a method: put it on a class or on a method.`,
  );
}

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
