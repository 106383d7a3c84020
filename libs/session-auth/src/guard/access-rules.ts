import type { ExecutionContext, Type } from '@nestjs/common';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { declarationOf, methodOf } from './access-metadata.js';
import { type AccessRule, type Requirement, resolveRule } from './access-rule.js';

/** @param called the function that Nest calls */
export function ruleOf({ owner, called }: { readonly owner: Type; readonly called: object }): AccessRule {
  return resolveRule(declarationOf(methodOf(called, owner)), declarationOf(owner));
}

export type AskPolicy = (user: UserRecord, context: ExecutionContext, localUser?: unknown) => unknown;

export type FindPolicy = (controller: Type, policy: Type) => AskPolicy | undefined;

/** Controllers may inherit the same handler; each has its own rule for it. */
interface CachedRule {
  readonly controller: Type;
  readonly rule: AccessRule;
  readonly next: CachedRule | undefined;
}

/** The rules of handlers, each resolved at the first request and cached. */
export class AccessRules {
  /** Set when the policies of the application are loaded. Without it, a policy denies. */
  findPolicy: FindPolicy | undefined;
  readonly #rules = new WeakMap<object, CachedRule>();
  readonly #loading: Requirement | undefined;

  /** @param loading loads the application's own user, before the first `@Authorize()`, which gets it */
  constructor(loading?: Requirement) {
    this.#loading = loading;
  }

  of(context: ExecutionContext): AccessRule {
    const called = context.getHandler();
    const controller = context.getClass();
    const first = this.#rules.get(called);
    for (let cached = first; cached; cached = cached.next)
      if (cached.controller === controller) return cached.rule;
    const rule = this.#withPolicies(ruleOf({ owner: controller, called }), controller);
    this.#rules.set(called, { controller, rule, next: first });
    return rule;
  }

  #withPolicies(rule: AccessRule, controller: Type): AccessRule {
    if (rule.kind === 'public') return rule;
    const requirements = rule.requirements.map((requirement) =>
      requirement.policy ? this.#asking(requirement, controller, requirement.policy) : requirement,
    );
    if (this.#loading) {
      const asked = requirements.findIndex(({ kind }) => kind === 'Authorize');
      requirements.splice(asked === -1 ? requirements.length : asked, 0, this.#loading);
    }
    return { ...rule, requirements };
  }

  #asking(requirement: Requirement, controller: Type, policy: Type): Requirement {
    let ask: AskPolicy | undefined;
    return {
      ...requirement,
      isMet: ({ user, context, localUser }) => {
        ask ??= this.findPolicy?.(controller, policy);
        if (!ask) throw new InvalidConfigurationError('The policy is not known yet');
        return ask(user, context, localUser);
      },
    };
  }
}
