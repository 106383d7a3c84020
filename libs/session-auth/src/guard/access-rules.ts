import type { ExecutionContext, Type } from '@nestjs/common';
import { declarationOf } from './access-metadata.js';
import { resolveRule, type AccessRule } from './access-rule.js';

type Handler = ReturnType<ExecutionContext['getHandler']>;

/** The rule of each handler, resolved at its first request and kept. */
export class AccessRules {
  readonly #rules = new WeakMap<Type, WeakMap<Handler, AccessRule>>();

  of(context: ExecutionContext): AccessRule {
    const controller = context.getClass();
    const handler = context.getHandler();
    return this.#rules.get(controller)?.get(handler) ?? this.#resolve(controller, handler);
  }

  #resolve(controller: Type, handler: Handler): AccessRule {
    const rule = resolveRule(declarationOf(handler), declarationOf(controller));
    const rules = this.#rules.get(controller) ?? new WeakMap<Handler, AccessRule>();
    this.#rules.set(controller, rules.set(handler, rule));
    return rule;
  }
}
