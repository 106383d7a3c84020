import { ENHANCER_KEY, namesSessionAuthGuardItself } from './enhancers.js';
import { type Declaration, inherit, type Requirement } from './access-rule.js';

/** Fixed, namespaced keys: two copies of this package read each other's decorators. */
export const OPEN_KEY = 'nestjs-session-auth:open';
const NAMESPACE = 'nestjs-session-auth:';
const REQUIREMENTS_KEY = 'nestjs-session-auth:requirements';
const DECORATED_KEY = 'nestjs-session-auth:decorated';
const ACKNOWLEDGED_KEY = 'nestjs-session-auth:acknowledged';
export const KEEP_OPEN = 'nestjs-session-auth:keep-open';
export const REPORT_ONLY = 'nestjs-session-auth:report-only';
const PARAMETER_KEY = 'nestjs-session-auth:parameter';
/** Begins the name of a function that `bind()` returns. */
const BOUND = 'bound ';
const REQUIREMENT_KINDS = [
  'Roles',
  'SubRoles',
  'RequireFlags',
  'CclScope',
  'Authorize',
  'FreshSession',
] as const;
/** A key for each kind: a decorator that copies the metadata of one function to another adds its kinds. */
const REQUIREMENT_KEYS = REQUIREMENT_KINDS.map((kind) => `${REQUIREMENTS_KEY}:${kind}`);

export type RequirementKind = (typeof REQUIREMENT_KINDS)[number];

export function declareRequirement(target: object, requirement: Requirement): void {
  const key = `${REQUIREMENTS_KEY}:${requirement.kind}`;
  const own = (Reflect.getOwnMetadata(key, target) ?? []) as Requirement[];
  Reflect.defineMetadata(key, [...own, requirement], target);
}

/** Returns what a handler declares, or a class with those that it extends. */
export function declarationOf(target: object): Declaration {
  const parent = Object.getPrototypeOf(target) as object | null;
  const own = ownDeclarationOf(target);
  return parent ? inherit(own, declarationOf(parent)) : own;
}

function ownDeclarationOf(level: object): Declaration {
  const keys = (Reflect.getOwnMetadataKeys(level) as unknown[]).map(String);
  if (keys.length === 0) return { open: undefined, requirements: [] };
  const declared = keys.filter((key) => key.startsWith(REQUIREMENTS_KEY));
  // Those of another version of this package are the last.
  const all = new Set([...REQUIREMENT_KEYS.filter((key) => declared.includes(key)), ...declared]);
  const own = (key: string): unknown => Reflect.getOwnMetadata(key, level);
  const open = own(OPEN_KEY) as Declaration['open'];
  const namesGuard = namesSessionAuthGuardItself(level);
  // A rule of a class adds no guard if the class inherits one.
  const names = namesGuard || open !== undefined || declared.length > 0;
  return {
    open,
    namesGuard: namesGuard && open === undefined,
    reportOnly: (own(REPORT_ONLY) as true | undefined) ?? (names ? false : undefined),
    requirements: [...all].flatMap((key) => own(key) as Requirement[]),
  };
}

/** Returns whether a method has a rule, and no metadata of anything that would call it. */
export function hasRulesOnly(method: object): boolean {
  const keys = (Reflect.getMetadataKeys(method) as unknown[]).map(String);
  return (
    keys.some((key) => key.startsWith(REQUIREMENTS_KEY)) &&
    keys.every((key) => key.startsWith(NAMESPACE) || ENHANCER_KEY.test(key)) &&
    acknowledgedReason(method) === undefined
  );
}

/**
 * Returns the method of a class that a constructor has bound: the bound function has no metadata. Returns any
 * other function itself.
 */
export function methodOf(
  called: { readonly name?: unknown },
  owner: { readonly prototype?: unknown },
): object {
  const { name } = called;
  if (typeof name !== 'string' || !name.startsWith(BOUND) || Reflect.getMetadataKeys(called).length > 0)
    return called;
  const method = (owner.prototype as Readonly<Record<string, unknown>> | undefined)?.[
    name.slice(BOUND.length)
  ];
  return typeof method === 'function' ? method : called;
}

export function recordDecorated(prototype: object, name: string | symbol, method: object): void {
  Reflect.defineMetadata(
    DECORATED_KEY,
    [...new Set([...decoratedMethods(prototype, name), method])],
    prototype,
    name,
  );
}

/**
 * Returns the functions that rules were declared on, for an own method of a prototype. Decorators between and
 * above the rules may each have replaced the function.
 */
export function decoratedMethods(prototype: object, name: string | symbol): object[] {
  return (Reflect.getOwnMetadata(DECORATED_KEY, prototype, name) ?? []) as object[];
}

export function acknowledge(method: object, reason: string): void {
  Reflect.defineMetadata(ACKNOWLEDGED_KEY, reason, method);
}

export function acknowledgedReason(method: object): string | undefined {
  return Reflect.getMetadata(ACKNOWLEDGED_KEY, method) as string | undefined;
}

export function keepsOpen(handler: object, controller: object): boolean {
  return [methodOf(handler, controller), controller].some((target) => Reflect.hasMetadata(KEEP_OPEN, target));
}

export function nameParameter<Factory extends object>(decorator: string, factory: Factory): Factory {
  Reflect.defineMetadata(PARAMETER_KEY, decorator, factory);
  return factory;
}

export function parameterNameOf(factory: object): string | undefined {
  return Reflect.getMetadata(PARAMETER_KEY, factory) as string | undefined;
}
