import type { Type } from '@nestjs/common';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { ruleOf } from './access-rules.js';
import { hasRulesOnly } from './access-metadata.js';
import { enhancersOf } from './enhancers.js';
import type { NestModule, Wrapper } from './nest-container.js';

export type HandlerKind = 'route' | 'gateway' | 'field' | 'reference' | 'resolver' | 'message';

export interface Handler {
  /** A method may be both a route and a message handler. */
  readonly kinds: ReadonlySet<HandlerKind>;
  readonly owner: Type;
  readonly name: string;
  /** The function by whose metadata Nest maps it. */
  readonly method: object;
  /**
   * The function that Nest calls, whose guards and rules apply. Another one if the constructor of a class
   * that exists at startup replaces the method; that of a class for each request is not known.
   */
  readonly called: object;
  /** The guards that its decorators name and Nest finds. */
  readonly guards: readonly unknown[];
  /** Other handlers of the same GraphQL field, which Nest therefore does not map. */
  readonly replaced: readonly Handler[];
  /** Of a field: the options of each `GraphQLModule` that maps it. */
  readonly servers?: readonly GraphqlOptions[];
}

export interface GraphqlOptions {
  readonly context?: unknown;
  readonly driver?: unknown;
  readonly fieldResolverEnhancers?: readonly string[];
  readonly include?: readonly unknown[];
  readonly path?: string;
  readonly useGlobalPrefix?: boolean;
}

const HANDLER_KINDS: ReadonlyMap<unknown, HandlerKind> = new Map([
  ['method', 'route'],
  ['websockets:message_mapping', 'gateway'],
  ['graphql:resolve_property', 'field'],
  ['graphql:resolve_reference', 'reference'],
  ['graphql:resolver_type', 'resolver'],
  ['microservices:pattern', 'message'],
]);
export const GRAPHQL_KINDS: readonly HandlerKind[] = ['field', 'reference', 'resolver'];
export const GRAPHQL_OPTIONS = 'GqlModuleOptions';
/**
 * Key of an option of the application, on the function that a kind has put in its place. All copies of this
 * package share it.
 */
export const REPLACED_OPTION = Symbol.for('nestjs-session-auth:replaced-option');

const scanner = new MetadataScanner();

export interface Placed {
  readonly module: NestModule;
  /** Of a provider: GraphQL reads no controllers. */
  readonly wrapper?: Wrapper | undefined;
  readonly handler: Handler;
}

export function isField({ kinds }: Handler): boolean {
  return GRAPHQL_KINDS.some((kind) => kinds.has(kind));
}

export function graphqlOptionsOf(modules: ModulesContainer): GraphqlOptions[] {
  return [...modules.values()].flatMap(
    ({ providers }) => (providers.get(GRAPHQL_OPTIONS)?.instance ?? []) as GraphqlOptions,
  );
}

/**
 * Returns the handlers of each module: those of classes and, because GraphQL reads instances, of what
 * factories and values provide.
 */
export function placedHandlersOf(modules: ModulesContainer): Placed[] {
  const readsInstances = graphqlOptionsOf(modules).length > 0;
  return [...modules.values()].flatMap((module) => {
    const place = (handlers: readonly Handler[], wrapper?: Wrapper): Placed[] =>
      handlers.map((handler) => ({ module, wrapper, handler: withGuardsOf(module, handler) }));
    return [
      ...[...module.controllers.values()].flatMap((wrapper) => place(handlersBy(wrapper, false))),
      ...[...module.providers.values()].flatMap((wrapper) =>
        place(handlersBy(wrapper, readsInstances), wrapper),
      ),
    ];
  });
}

/** Returns a handler with those of its guards that Nest finds in a module. */
export function withGuardsOf(module: NestModule | undefined, handler: Handler): Handler {
  const isFound = (guard: unknown): boolean =>
    typeof guard !== 'function' || module?.injectables.has(guard) === true;
  return { ...handler, guards: guardsNamedBy(handler).filter(isFound) };
}

function handlersBy({ isNotMetatype, metatype, instance }: Wrapper, readsInstances: boolean): Handler[] {
  if (!isNotMetatype) {
    if (!hasPrototype(metatype)) return [];
    return handlersOf(metatype, (instance as object | null) ?? (metatype.prototype as object));
  }
  if (!readsInstances || typeof instance !== 'object' || instance === null) return [];
  const owner = (Object.getPrototypeOf(instance) as { readonly constructor?: unknown } | null)?.constructor;
  return hasPrototype(owner) ? handlersIn(owner).filter(isField) : [];
}

export function classesOf({ controllers, providers }: Pick<NestModule, 'controllers' | 'providers'>): Type[] {
  return [...controllers.values(), ...providers.values()]
    .map(({ metatype }) => metatype)
    .filter(hasPrototype);
}

export function handlersIn(owner: Type): Handler[] {
  return handlersOf(owner, owner.prototype as object);
}

function handlersOf(owner: Type, instance: object): Handler[] {
  const prototype = owner.prototype as object;
  return scanner.getAllMethodNames(prototype).flatMap((name) => {
    const method = Reflect.get(prototype, name) as object;
    // Every method of the application is read here: most have no metadata.
    const kinds = new Set(
      Reflect.getMetadataKeys(method).flatMap((key: unknown) => HANDLER_KINDS.get(key) ?? []),
    );
    if (kinds.size === 0) return [];
    const own: unknown = Reflect.get(instance, name);
    const called = typeof own === 'function' ? own : method;
    return [{ kinds, owner, name, method, called, guards: guardsNamedBy({ owner, called }), replaced: [] }];
  });
}

/** Returns the methods of a class that have a rule, and no other decorator by which anything calls them. */
export function uncalledMethodsOf({ prototype }: Type): string[] {
  const methods = prototype as object;
  return scanner
    .getAllMethodNames(methods)
    .filter((name) => hasRulesOnly(Reflect.get(methods, name) as object));
}

export function guardsNamedBy({ owner, called }: Pick<Handler, 'owner' | 'called'>): readonly unknown[] {
  return [...enhancersOf(owner, 'guard'), ...enhancersOf(called, 'guard')];
}

export function policiesOf(handler: Handler): Type[] {
  const rule = ruleOf(handler);
  return rule.kind === 'protected' ? rule.requirements.flatMap(({ policy }) => policy ?? []) : [];
}

function hasPrototype(metatype: unknown): metatype is Type {
  return (
    typeof metatype === 'function' && typeof metatype.prototype === 'object' && metatype.prototype !== null
  );
}
