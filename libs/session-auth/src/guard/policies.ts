import type { Type } from '@nestjs/common';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { AccessRule, Requirement } from './access-rule.js';

/** Asks the instance of a policy that serves a controller. */
export type AskPolicy = Requirement['isMet'];

/** Finds the policies of handlers. */
export interface Policies {
  /** Returns how to ask the policy of a controller; `undefined` if it is not known yet. */
  find(controller: Type, policy: Type): AskPolicy | undefined;
}

/**
 * Returns a rule whose policies are those of a controller. A policy that is not found can't be asked, so that
 * its rule fails.
 */
export function withPolicies(rule: AccessRule, controller: Type, policies: Policies | undefined): AccessRule {
  if (rule.kind !== 'protected' || !rule.requirements.some(({ policy }) => policy)) return rule;
  const requirements = rule.requirements.map((requirement) => {
    const { policy } = requirement;
    return policy
      ? { ...requirement, isMet: askOnceFound(() => policies?.find(controller, policy)) }
      : requirement;
  });
  return { ...rule, requirements };
}

function askOnceFound(find: () => AskPolicy | undefined): AskPolicy {
  let ask: AskPolicy | undefined;
  return (user, context) => {
    ask ??= find();
    if (!ask) throw new InvalidConfigurationError('The policy is not known yet');
    return ask(user, context);
  };
}
