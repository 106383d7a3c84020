import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import {
  type GraphqlOptions,
  graphqlOptionsOf,
  type Handler,
  isField,
  type Placed,
  withGuardsOf,
} from '../guard/handlers.js';
import type { NestModule, Wrapper } from '../guard/nest-container.js';
import type { RootField } from './schema-reach.js';

const RESOLVER_TYPE = 'graphql:resolver_type';
const RESOLVER_NAME = 'graphql:resolver_name';
const CONTEXT_CREATOR = 'ExternalContextCreator';

/** Returns the handlers that Nest maps: of those of a field, the last one. */
export function mappedHandlersOf(inModules: readonly Placed[], modules: ModulesContainer): Handler[] {
  const findHost = resolverHosts(modules);
  const placed = inModules.map((each) => {
    const { handler, module, wrapper } = each;
    if (!wrapper || !isField(handler)) return each;
    return { ...each, handler: withGuardsOf(findHost(wrapper, handler.owner, module), handler) };
  });
  const graphql = graphqlModules(modules);
  if (graphql.length === 0) return placed.map(({ handler }) => handler);
  const fields = placed.filter(({ handler }) => isField(handler));
  const mapped = graphql.flatMap(({ options, read }) =>
    lastOfEachField(read.flatMap((module) => fields.filter((field) => field.module === module))).map(
      (handler) => ({ ...handler, servers: [options] }),
    ),
  );
  return [...placed.flatMap(({ handler }) => (isField(handler) ? [] : [handler])), ...mapped];
}

/**
 * Returns how Nest finds the module whose guards a resolver has: by the class, and since some version of
 * NestJS 11 by the instance. Asks Nest's own code.
 */
function resolverHosts(
  modules: ModulesContainer,
): (wrapper: Wrapper, owner: Type, module: NestModule) => NestModule | undefined {
  const providers = [...modules.values()].flatMap((module) => [...module.providers]);
  const [, creator] =
    providers.find(([token]) => typeof token === 'function' && token.name === CONTEXT_CREATOR) ?? [];
  const finder = creator?.instance as HostFinder | undefined;
  return (wrapper, owner, module) => {
    const id = wrapper.isDependencyTreeStatic() ? undefined : wrapper.id;
    const host = modules.get(finder?.getHostModuleKey?.(wrapper.instance, owner, id) ?? '');
    if (host || !finder?.getContextModuleKey) return host ?? module;
    return modules.get(finder.getContextModuleKey(owner));
  };
}

interface HostFinder {
  getHostModuleKey?(instance: unknown, owner: Type, id?: string): string;
  getContextModuleKey?(owner: Type): string;
}

function graphqlModules(
  modules: ModulesContainer,
): { readonly options: GraphqlOptions; readonly read: readonly NestModule[] }[] {
  const all = [...modules.values()];
  return graphqlOptionsOf(modules).map((options) => {
    const { include = [] } = options;
    if (include.length === 0) return { options, read: all };
    const [read, next] = [new Set<NestModule>(), all.filter(({ metatype }) => include.includes(metatype))];
    for (let module = next.pop(); module; module = next.pop()) {
      if (read.has(module)) continue;
      read.add(module);
      next.push(...module.imports);
    }
    return { options, read: [...read] };
  });
}

function lastOfEachField(fields: readonly Placed[]): Handler[] {
  const mapped = new Map<string, Handler>();
  for (const { handler } of fields) {
    const key = fieldOf(handler);
    const earlier = mapped.get(key);
    mapped.set(key, earlier ? { ...handler, replaced: [...earlier.replaced, earlier] } : handler);
  }
  return [...mapped.values()];
}

function fieldNameOf({ method, name }: Handler): string {
  return (Reflect.getMetadata(RESOLVER_NAME, method) as string | undefined) ?? name;
}

/** As Nest reads it: from the method, otherwise from its class. */
export function typeNameOf({ method, owner }: Handler): string | undefined {
  return (Reflect.getMetadata(RESOLVER_TYPE, method) ?? Reflect.getMetadata(RESOLVER_TYPE, owner)) as
    | string
    | undefined;
}

export function fieldOf(handler: Handler): string {
  const name = handler.kinds.has('reference') ? '__resolveReference' : fieldNameOf(handler);
  return [typeNameOf(handler), name].filter((part) => part !== undefined).join('.');
}

export function resolves(handler: Handler, root: RootField): boolean {
  return typeNameOf(handler) === root.type && fieldNameOf(handler) === root.name;
}
