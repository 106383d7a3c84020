import { RequestMethod, type Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { Handler } from '../guard/handlers.js';

export type RoutePrefixes = ReadonlyMap<Type, readonly string[]>;

/** Nest's metadata key of the path of a module (`RouterModule`), followed by the id of the application. */
const MODULE_PATH = '__module_path__';
const PATH = 'path';

/** A controller of several modules has several. */
export function routePrefixesOf(modules: ModulesContainer, globalPrefix = ''): RoutePrefixes {
  const prefixes = new Map<Type, string[]>();
  for (const { controllers, metatype } of modules.values()) {
    const prefix = [globalPrefix, modulePathOf(metatype, modules)]
      .filter((part) => typeof part === 'string')
      .join('/');
    for (const wrapper of controllers.values()) {
      const controller = wrapper.metatype as Type;
      prefixes.set(controller, [...(prefixes.get(controller) ?? []), prefix]);
    }
  }
  return prefixes;
}

export function modulePathOf(module: object, modules: ModulesContainer): unknown {
  return (
    Reflect.getMetadata(MODULE_PATH + modules.applicationId, module) ??
    Reflect.getMetadata(MODULE_PATH, module)
  );
}

/** Without versions, which have no parameters; none for a class that is not a controller. */
export function pathsOf({ owner, method }: Handler, prefixes: RoutePrefixes): string[] {
  const own = [Reflect.getMetadata(PATH, owner), Reflect.getMetadata(PATH, method)].map((path: unknown) =>
    [path].flat(),
  );
  return (prefixes.get(owner) ?? []).flatMap((prefix) =>
    combine([[prefix], ...own])
      .filter((parts): parts is string[] => parts.every((part) => typeof part === 'string'))
      .map((parts) => `/${parts.join('/')}`.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')),
  );
}

function combine(lists: readonly unknown[][]): unknown[][] {
  return lists.reduce<unknown[][]>(
    (chosen, parts) => chosen.flatMap((others) => parts.map((part) => [...others, part])),
    [[]],
  );
}

/** Versions, hosts, and the constraints of Fastify. */
const CONDITIONS = ['__version__', 'host', '__fastify_route_constraints__'];

/** The routes of which one handler serves all calls: with what decides besides the path who serves them. */
export function servedRoutesOf(handler: Handler, prefixes: RoutePrefixes): string[] {
  const { owner, method } = handler;
  const conditions = CONDITIONS.map(
    (key): unknown => Reflect.getMetadata(key, method) ?? Reflect.getMetadata(key, owner),
  ).filter((condition) => condition !== undefined);
  const suffix = conditions.map((condition) => ` (${[condition].flat().map(textOf).join(', ')})`).join('');
  const name = RequestMethod[Reflect.getMetadata('method', method) as RequestMethod];
  return pathsOf(handler, prefixes).map((path) => `${name} ${path}${suffix}`);
}

export function textOf(value: unknown): string {
  const isNamed = typeof value === 'string' || typeof value === 'symbol' || value instanceof RegExp;
  return isNamed ? String(value) : JSON.stringify(value);
}
