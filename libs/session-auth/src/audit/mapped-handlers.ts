import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import {
  type GraphqlOptions,
  graphqlOptionsOf,
  type Handler,
  isField,
  type Placed,
  placedHandlersOf,
} from '../guard/handlers.js';
import type { NestModule } from '../guard/nest-container.js';

const RESOLVER_TYPE = 'graphql:resolver_type';
const RESOLVER_NAME = 'graphql:resolver_name';

/**
 * Returns the handlers that Nest maps, including inherited ones. A class that several modules have is listed
 * once, as it is least guarded.
 */
export function handlersOf(modules: ModulesContainer): Handler[] {
  const placed = placedHandlersOf(modules);
  const graphql = graphqlModules(modules);
  if (graphql.length === 0) return leastGuarded(placed.map(({ handler }) => handler));
  const fields = placed.filter(({ handler }) => isField(handler));
  const mapped = graphql.flatMap(({ options, read }) =>
    lastOfEachField(read.flatMap((module) => fields.filter((field) => field.module === module))).map(
      (handler) => ({ ...handler, servers: [options] }),
    ),
  );
  return leastGuarded([...placed.flatMap(({ handler }) => (isField(handler) ? [] : [handler])), ...mapped]);
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

/** Nest maps the last resolver of a field. */
function lastOfEachField(fields: readonly Placed[]): Handler[] {
  const mapped = new Map<string, Handler>();
  for (const { handler } of fields) {
    const field = handler.kinds.has('reference') ? '__resolveReference' : fieldNameOf(handler);
    const key = `${typeNameOf(handler)}.${field}`;
    const earlier = mapped.get(key);
    mapped.set(key, earlier ? { ...handler, replaced: [...earlier.replaced, earlier] } : handler);
  }
  return [...mapped.values()];
}

function leastGuarded(handlers: readonly Handler[]): Handler[] {
  const least = new Map<Type, Map<string, Handler>>();
  for (const handler of handlers) {
    const own = least.get(handler.owner) ?? new Map<string, Handler>();
    const other = own.get(handler.name);
    const chosen = !other || handler.guards.length < other.guards.length ? handler : other;
    const servers = [...(other?.servers ?? []), ...(handler.servers ?? [])];
    own.set(handler.name, servers.length > 1 ? { ...chosen, servers } : chosen);
    least.set(handler.owner, own);
  }
  return [...least.values()].flatMap((own) => [...own.values()]);
}

export function fieldNameOf({ method, name }: Handler): string {
  return (Reflect.getMetadata(RESOLVER_NAME, method) as string | undefined) ?? name;
}

/**
 * Returns the type that a handler belongs to. Reads the metadata as Nest does: from the method, otherwise
 * from its class.
 */
export function typeNameOf({ method, owner }: Handler): string | undefined {
  return (Reflect.getMetadata(RESOLVER_TYPE, method) ?? Reflect.getMetadata(RESOLVER_TYPE, owner)) as
    string | undefined;
}
