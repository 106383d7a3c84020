import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import type { NestModule } from './nest-container.js';

/** The kinds of handlers. Nest's metadata identify them, by keys that have never changed. */
type HandlerKind = 'route' | 'gateway' | 'field' | 'reference' | 'resolver' | 'message';

/** A method that Nest calls for a client. */
export interface Handler {
  /** A method may be both a route and a message handler. */
  readonly kinds: ReadonlySet<HandlerKind>;
  readonly owner: Type;
  readonly name: string;
  readonly method: object;
}

const KEYS: readonly (readonly [kind: HandlerKind, key: string])[] = [
  ['route', 'method'],
  ['gateway', 'websockets:message_mapping'],
  ['field', 'graphql:resolve_property'],
  ['reference', 'graphql:resolve_reference'],
  ['resolver', 'graphql:resolver_type'],
  ['message', 'microservices:pattern'],
];

const scanner = new MetadataScanner();

/** Returns all handlers of an application, including inherited ones. */
export function handlersOf(modules: ModulesContainer): Handler[] {
  return [...new Set([...modules.values()].flatMap(classesOf))].flatMap(handlersIn);
}

/** Returns the controllers and providers of a module that are classes. */
export function classesOf({ controllers, providers }: Pick<NestModule, 'controllers' | 'providers'>): Type[] {
  return [...controllers.values(), ...providers.values()].map(({ metatype }) => metatype).filter(hasPrototype);
}

/** Returns the handlers of a class, including inherited ones. */
export function handlersIn(owner: Type): Handler[] {
  const prototype = owner.prototype as object;
  return scanner.getAllMethodNames(prototype).flatMap((name) => {
    const method = Reflect.get(prototype, name) as object;
    const kinds = KEYS.filter(([, key]) => Reflect.hasMetadata(key, method)).map(([kind]) => kind);
    return kinds.length > 0 ? [{ kinds: new Set(kinds), owner, name, method }] : [];
  });
}

function hasPrototype(metatype: unknown): metatype is Type {
  return typeof metatype === 'function' && typeof metatype.prototype === 'object' && metatype.prototype !== null;
}
