import { UseGuards } from '@nestjs/common';
import { InvalidConfigurationError } from '../contract/errors.js';
import { enhancersOf, namesSessionAuthGuard } from './enhancers.js';
import { SessionAuthGuard } from './session-auth.guard.js';
import {
  declareAuthority,
  declareOpen,
  declareRequirement,
  recordDecorated,
  type RequirementKind,
} from './access-metadata.js';
import type { Requirement } from './access-rule.js';

type AccessDecorator = ClassDecorator & MethodDecorator;

/** Returns a decorator that makes a handler or a controller public. It applies no guard. */
export function publicAccess(): AccessDecorator {
  return decorate((target) => declareOpen(target, 'public'));
}

/**
 * Returns a decorator that admits callers with and without a session. It applies the guard, which attaches
 * the user.
 */
export function optionalAccess(): AccessDecorator {
  return withGuard((target) => declareOpen(target, 'optional'));
}

/**
 * Returns a decorator that declares a requirement, and applies the guard that checks it. Two on one target
 * must both be met.
 */
export function requiring(requirement: Requirement & { readonly kind: RequirementKind }): AccessDecorator {
  return withGuard((target) => declareRequirement(target, requirement));
}

/** Returns a decorator that names the registration that checks the calls, and applies the guard. */
export function checkedBy(authority: string): AccessDecorator {
  return withGuard((target) => {
    const other = declareAuthority(target, authority);
    if (other === undefined) return;
    throw new InvalidConfigurationError(
      `@SessionAuthority('${authority}') is beside @SessionAuthority('${other}'). Remove one of them.`,
    );
  });
}

function withGuard(declare: (target: object) => void): AccessDecorator {
  return decorate((target, prototype, name) => {
    declare(target);
    applySessionAuthGuard(target);
    if (name !== undefined) recordDecorated(prototype, name, target);
  });
}

function decorate(
  declare: (target: object, prototype: object, name: string | symbol | undefined) => void,
): AccessDecorator {
  return <Handler>(target: object, name?: string | symbol, descriptor?: TypedPropertyDescriptor<Handler>) =>
    declare(name === undefined ? target : methodIn(descriptor?.value, name), target, name);
}

/**
 * Returns the function that carries the metadata of a handler. A decorator on anything but a method would
 * have no effect.
 */
export function methodIn(method: unknown, name: string | symbol): object {
  if (typeof method === 'function') return method;
  throw new InvalidConfigurationError(
    `An access decorator is on ${String(name)}, which is not a method: put it on a class or on a method.`,
  );
}

/**
 * Applies the guard to a class or a handler, as `@UseGuards(SessionAuthGuard)` does, unless its guards
 * include it already.
 */
function applySessionAuthGuard(target: object): void {
  if (!namesSessionAuthGuard(target)) applyGuard(SessionAuthGuard, target);
}

/** Applies a guard class to a class or a handler, at most once. */
export function applyGuard(guard: Parameters<typeof UseGuards>[0], target: object): void {
  if (!enhancersOf(target, 'guard').includes(guard)) UseGuards(guard)(target as () => void);
}
