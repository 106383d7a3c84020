import 'reflect-metadata';
import type { Declaration, Requirement } from './access-rule.js';

/** Fixed, namespaced keys: two copies of this package read each other's decorators. */
const OPEN_KEY = 'nestjs-session-auth:open';
const REQUIREMENTS_KEY = 'nestjs-session-auth:requirements';
const KINDS = ['roles', 'sub-roles', 'flags', 'ccl-scope', 'authorize', 'fresh-session'] as const;

/** The decorators that require something. */
export type RequirementKind = (typeof KINDS)[number];

type AccessDecorator = ClassDecorator & MethodDecorator;

/** A decorator that opens a handler or a controller. */
export function opening(open: 'public' | 'optional'): AccessDecorator {
  return decorate((target) => Reflect.defineMetadata(OPEN_KEY, open, target));
}

/** A decorator that requires something. Used twice on one target, both hold. */
export function requiring(requirement: Requirement & { readonly kind: RequirementKind }): AccessDecorator {
  const key = `${REQUIREMENTS_KEY}:${requirement.kind}`;
  return decorate((target) => {
    const own = (Reflect.getOwnMetadata(key, target) ?? []) as Requirement[];
    Reflect.defineMetadata(key, [...own, requirement], target);
  });
}

/** What the decorators on a handler or a controller (or on a class it extends) say. */
export function declarationOf(target: object): Declaration {
  return {
    open: Reflect.getMetadata(OPEN_KEY, target) as Declaration['open'],
    requirements: KINDS.flatMap((kind) => (Reflect.getMetadata(`${REQUIREMENTS_KEY}:${kind}`, target) ?? []) as Requirement[]),
  };
}

function decorate(mark: (target: object) => void): AccessDecorator {
  return <Handler>(target: object, _key?: string | symbol, descriptor?: TypedPropertyDescriptor<Handler>) =>
    mark((descriptor?.value as object | undefined) ?? target);
}
