import type { Type } from '@nestjs/common';
import { declarationOf, decoratedMethods } from '../guard/access-metadata.js';
import type { AccessRule } from '../guard/access-rule.js';
import { enhancersOf, isSessionAuthGuard } from '../guard/enhancers.js';
import { ruleOf } from '../guard/access-rules.js';
import { guardsNamedBy, type Handler } from '../guard/handlers.js';
import { type AuditContext, finding, type Finding, placeOf } from './audit-context.js';
import {
  auditedRuleOf,
  classNameOf,
  decoratedParametersOf,
  GUARDS_PROXY,
  includeAll,
  isBelowRoot,
  isGuarded,
  isNamed,
  namesGuard,
  prototypesOf,
  requirementsOf,
  TYPE_RESOLVER,
} from './audited-handlers.js';
import { servedRoutesOf } from './routes.js';

const PROXY: ReadonlySet<unknown> = new Set([GUARDS_PROXY]);

export function ineffectiveRulesOf(
  handler: Handler,
  context: AuditContext,
  served: ReadonlyMap<string, Handler>,
): (Finding | undefined)[] {
  const lostRule = replaced(handler) ?? lost(handler);
  return [
    // A function without the rule has not its guard either: one finding of the two.
    lostRule?.stops ? undefined : unguarded(handler, context),
    lostRule,
    overridden(handler),
    ...(context.beyondRoutes?.findingsOf(handler, context) ?? []),
    ...servedBy(handler, context).map((call) => unserved(handler, call, served.get(call))),
  ];
}

/** Nest finds no guards for what a factory or a value provides, unless a class of the module names them. */
function unguarded(handler: Handler, { fieldsAreGuarded }: AuditContext): Finding | undefined {
  const { kind } = auditedRuleOf(handler);
  const runsNoGuards = handler.name === TYPE_RESOLVER || (isBelowRoot(handler) && !fieldsAreGuarded);
  if (kind === 'public' || runsNoGuards || isGuarded(handler) || !namesGuard(handler)) return undefined;
  const isNamed = guardsNamedBy(handler).some(isSessionAuthGuard);
  return finding(
    isNamed
      ? `${placeOf(handler)} is not guarded: Nest finds no guards for ${handler.owner.name}, because it is not provided as a class. List the class itself in providers, or set protectAllRoutes: true.`
      : `${placeOf(handler)} is not guarded: a decorator above its rule replaces the guards in place of adding to them. Put the rule above that decorator, or set protectAllRoutes: true.`,
    kind === 'protected',
  );
}

/** Which of the two functions Nest calls depends on the kind of the handler, and on the version of Nest. */
function replaced(handler: Handler): Finding | undefined {
  const { method, called, owner, name } = handler;
  if (called === method || !decoratedAs(owner, name, method).some(declares)) return undefined;
  return finding(
    `${placeOf(handler)} may lose its rule: its instance has another function in the place of the method, and a rule belongs to its method. Do not bind or replace the method in the constructor: Nest calls it with its instance.`,
    true,
  );
}

/** A rule is metadata of its function. A decorator that wraps the function may copy them. */
function lost(handler: Handler): Finding | undefined {
  const { owner, name, method } = handler;
  const before = decoratedAs(owner, name, method).filter((each) => isLostIn(method, each));
  if (before.length === 0) return undefined;
  return finding(
    `${placeOf(handler)} has lost its rule: a decorator above the rule replaces the method without its metadata. Put the rule above that decorator.`,
    before.some((each) => !enforces(handler, ruleOf({ owner, called: each }))),
  );
}

/** Returns a method, and the functions that its rules were declared on. */
function decoratedAs(owner: Type, name: string, method: object): object[] {
  const home = prototypesOf(owner).find((prototype) => Object.hasOwn(prototype, name));
  return [...(home ? decoratedMethods(home, name) : []), method];
}

function isLostIn(called: object, decorated: object): boolean {
  const [before, now] = [declarationOf(decorated), declarationOf(called)];
  return (
    (before.open !== undefined && before.open !== now.open) ||
    (before.namesGuard === true && now.namesGuard !== true && !now.open) ||
    before.requirements.some((requirement) => !now.requirements.includes(requirement))
  );
}

function overridden(handler: Handler): Finding | undefined {
  const { owner, name, method, called } = handler;
  if (declares(method)) return undefined;
  const [, ...bases] = prototypesOf(owner).filter((prototype) => Object.hasOwn(prototype, name));
  for (const base of bases) {
    const method: unknown = Object.getOwnPropertyDescriptor(base, name)?.value;
    const ruled = [...(typeof method === 'function' ? [method] : []), ...decoratedMethods(base, name)].find(
      declares,
    );
    if (!ruled) continue;
    if (enforces(handler, ruleOf({ owner, called: ruled }))) return undefined;
    const hasOwnGuard = enhancersOf(called, 'guard').some((guard) => !isNamed(guard, PROXY));
    return finding(
      `${placeOf(handler)} overrides ${classNameOf(base)}.${name} without its rule: a rule belongs to its method. Repeat the rule, or mark the method @Public().`,
      !hasOwnGuard && !requirementsOf(handler)?.length,
    );
  }
  return undefined;
}

/** Returns the handler that serves each call: the first of a route, and the last of a message. */
export function servedCalls(context: AuditContext): ReadonlyMap<string, Handler> {
  const { handlers, prefixes, beyondRoutes } = context;
  const served = new Map<string, Handler>();
  for (const handler of handlers) {
    for (const route of servedRoutesOf(handler, prefixes)) if (!served.has(route)) served.set(route, handler);
    for (const message of beyondRoutes?.servedMessagesOf(handler, prefixes) ?? [])
      served.set(message, handler);
  }
  return served;
}

function servedBy(handler: Handler, { prefixes, beyondRoutes }: AuditContext): string[] {
  return [...servedRoutesOf(handler, prefixes), ...(beyondRoutes?.servedMessagesOf(handler, prefixes) ?? [])];
}

function unserved(handler: Handler, call: string, other: Handler | undefined): Finding | undefined {
  if (
    !other ||
    other.owner === handler.owner ||
    !namesGuard(handler) ||
    enforces(other, auditedRuleOf(handler))
  )
    return undefined;
  // With `@Next()`, a parameter of the type 2, it may pass the call on.
  if (Object.keys(decoratedParametersOf(other)).some((key) => key.startsWith('2:'))) return undefined;
  return finding(
    `${placeOf(handler)} has a rule without effect: ${placeOf(other)} serves ${call} in its place. Remove one of them.`,
    true,
  );
}

export function declares(target: object): boolean {
  const { open, requirements, namesGuard: isNamed } = declarationOf(target);
  return open !== undefined || requirements.length > 0 || isNamed === true;
}

/** Returns whether what Nest runs for a handler is at least as strict as a rule. */
export function enforces(handler: Handler, intended: AccessRule): boolean {
  if (intended.kind !== 'protected') return true;
  const rule = auditedRuleOf(handler);
  if (!isGuarded(handler) || rule.kind !== 'protected') return false;
  return includeAll(rule.requirements, intended.requirements);
}
