import 'reflect-metadata';
import type { ExecutionContext, Type } from '@nestjs/common';
import { type AccessRule, type Declaration, type Requirement, resolveRule } from './access-rule.js';

/** Fixed, namespaced keys: two copies of this package read each other's decorators. */
const OPEN_KEY = 'nestjs-session-auth:open';
const REQUIREMENTS_KEY = 'nestjs-session-auth:requirements';
const DECORATED_KEY = 'nestjs-session-auth:decorated';
const KINDS = ['roles', 'sub-roles', 'flags', 'ccl-scope', 'authorize', 'fresh-session'] as const;

/** The decorators that require something. */
export type RequirementKind = (typeof KINDS)[number];

/** Writes that a handler or a controller is open. */
export function declareOpen(target: object, open: 'public' | 'optional'): void {
  Reflect.defineMetadata(OPEN_KEY, open, target);
}

/** Writes that a handler or a controller requires something. Written twice on one target, both hold. */
export function declareRequirement(target: object, requirement: Requirement & { readonly kind: RequirementKind }): void {
  const key = `${REQUIREMENTS_KEY}:${requirement.kind}`;
  const own = (Reflect.getOwnMetadata(key, target) ?? []) as Requirement[];
  Reflect.defineMetadata(key, [...own, requirement], target);
}

/** Reads what the decorators on a handler or a controller (or on a class it extends) declare. */
export function declarationOf(target: object): Declaration {
  return {
    open: Reflect.getMetadata(OPEN_KEY, target) as Declaration['open'],
    requirements: KINDS.flatMap((kind) => (Reflect.getMetadata(`${REQUIREMENTS_KEY}:${kind}`, target) ?? []) as Requirement[]),
  };
}

/** Notes the function that a rule was declared on, with the class and the name of the method. */
export function noteDecorated(prototype: object, name: string | symbol, method: object): void {
  Reflect.defineMetadata(DECORATED_KEY, method, prototype, name);
}

/** The function that a rule was declared on, for a method that this prototype has itself. A later decorator may have put another in its place. */
export function decoratedMethod(prototype: object, name: string | symbol): object | undefined {
  return Reflect.getOwnMetadata(DECORATED_KEY, prototype, name) as object | undefined;
}

type Handler = ReturnType<ExecutionContext['getHandler']>;

/** A handler that two controllers inherit has a rule for each. */
interface KnownRule {
  readonly controller: Type;
  readonly rule: AccessRule;
  readonly next: KnownRule | undefined;
}

/** The rule of each handler, resolved at its first request and kept. */
export class AccessRules {
  readonly #rules = new WeakMap<Handler, KnownRule>();

  of(context: ExecutionContext): AccessRule {
    const handler = context.getHandler();
    const controller = context.getClass();
    const first = this.#rules.get(handler);
    for (let known = first; known; known = known.next) if (known.controller === controller) return known.rule;
    const rule = resolveRule(declarationOf(handler), declarationOf(controller));
    this.#rules.set(handler, { controller, rule, next: first });
    return rule;
  }
}
