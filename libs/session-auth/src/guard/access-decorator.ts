import { InvalidConfigurationError } from '../contract/errors.js';
import { declareOpen, declareRequirement, noteDecorated, type RequirementKind } from './access-metadata.js';
import type { Requirement } from './access-rule.js';
import { applySessionAuthGuard } from './named-guards.js';

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
