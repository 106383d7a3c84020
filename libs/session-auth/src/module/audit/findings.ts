import 'reflect-metadata';
import { declarationOf } from '../../guard/access-metadata.js';
import { resolveRule } from '../../guard/access-rule.js';
import { SessionAuthGuard } from '../../guard/session-auth.guard.js';
import type { Handler } from './handlers.js';

/** What of an application is not in its classes. */
export interface Surroundings {
  /** The guard is registered for the whole application. */
  readonly isGlobal: boolean;
  /** Guards of the whole application reach gateways: they do on NestJS 12, and did not on 11. */
  readonly gatewaysAreCovered: boolean;
  /** Field resolvers of GraphQL pass through guards, which they do not by default. */
  readonly fieldsAreGuarded: boolean;
}

const GUARDS_METADATA = '__guards__';
const REMEDY = 'Add @UseGuards(SessionAuthGuard) to it or to its class';

/** What is wrong with a handler: what it says about who may enter, and does not hold. */
export function findingsOf(handler: Handler, { isGlobal, gatewaysAreCovered, fieldsAreGuarded }: Surroundings): string[] {
  const { kind, owner, name, method } = handler;
  const [own, inherited] = [declarationOf(method), declarationOf(owner)];
  const findings: string[] = [];
  const place = `${owner.name}.${name}`;
  if (own.open && own.requirements.length > 0) {
    const opening = own.open === 'public' ? '@Public()' : '@OptionalAuth()';
    findings.push(`${place} has ${opening} beside decorators that require something, and opens nothing. Remove one of them.`);
  }
  const rule = resolveRule(own, inherited);
  if (rule.kind !== 'protected') return findings;
  const asks = rule.requirements.length > 0;
  if (kind === 'field' && asks && !fieldsAreGuarded) {
    findings.push(
      `${place} says who may read this field, and GraphQL asks no guard. Set fieldResolverEnhancers: ['guards'] in GraphQLModule.`,
    );
  } else if (!hasGuard(handler)) {
    if (kind === 'gateway' && isGlobal && !gatewaysAreCovered)
      findings.push(`${place} is open: guards of the whole application do not reach gateways. ${REMEDY}.`);
    else if (asks && !isGlobal)
      findings.push(`${place} says who may enter, and nobody asks: it has no guard. ${REMEDY}, or set protectAllRoutes: true.`);
  }
  return findings;
}

function hasGuard({ owner, method }: Handler): boolean {
  return [owner, method].some((target) => {
    const guards: unknown = Reflect.getMetadata(GUARDS_METADATA, target);
    return Array.isArray(guards) && guards.some(isSessionAuthGuard);
  });
}

/** A class or an instance; of this guard, or of one that extends it. */
export function isSessionAuthGuard(guard: unknown): boolean {
  return (
    guard instanceof SessionAuthGuard ||
    guard === SessionAuthGuard ||
    (typeof guard === 'function' && guard.prototype instanceof SessionAuthGuard)
  );
}
