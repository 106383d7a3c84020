import type { ExecutionContext, Type } from '@nestjs/common';
import { declarationOf } from './access-metadata.js';
import { resolveRule, type AccessRule } from './access-rule.js';

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
