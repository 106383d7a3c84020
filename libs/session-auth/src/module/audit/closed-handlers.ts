import { declarationOf } from '../../guard/access-metadata.js';
import { resolveRule, type Requirement } from '../../guard/access-rule.js';
import { namesSessionAuthGuard } from '../../guard/named-guards.js';
import type { Handler } from './handlers.js';

/** Returns what a handler requires that is not open to callers without a session; `undefined` for one that is. */
export function requirementsOf({ owner, method }: Handler, isGlobal: boolean): readonly Requirement[] | undefined {
  const rule = resolveRule(declarationOf(method), declarationOf(owner));
  const isGuarded = isGlobal || namesSessionAuthGuard(owner) || namesSessionAuthGuard(method);
  return isGuarded && rule.kind === 'protected' ? rule.requirements : undefined;
}
