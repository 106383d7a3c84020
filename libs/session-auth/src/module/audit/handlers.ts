import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';

/** What calls a handler. Nest's own metadata tells, under keys that have not changed since their packages exist. */
export type HandlerKind = 'route' | 'gateway' | 'field' | 'resolver' | 'message';

/** A method that Nest calls for somebody outside. */
export interface Handler {
  readonly kind: HandlerKind;
  readonly owner: Type;
  readonly name: string;
  readonly method: object;
}

const KINDS: readonly (readonly [kind: HandlerKind, key: string])[] = [
  ['route', 'method'],
  ['gateway', 'websockets:message_mapping'],
  ['field', 'graphql:resolve_property'],
  ['resolver', 'graphql:resolver_type'],
  ['message', 'microservices:pattern'],
];

/** All handlers of an application, those that a class inherits included. */
export function handlersOf(modules: ModulesContainer): Handler[] {
  const owners = new Set<Type>();
  for (const { controllers, providers } of modules.values()) {
    for (const { metatype } of [...controllers.values(), ...providers.values()]) if (isClass(metatype)) owners.add(metatype);
  }
  const scanner = new MetadataScanner();
  return [...owners].flatMap((owner) => handlersIn(owner, scanner));
}

function handlersIn(owner: Type, scanner: MetadataScanner): Handler[] {
  const prototype = owner.prototype as Record<string, object>;
  return scanner.getAllMethodNames(prototype).flatMap((name) => {
    const method = prototype[name];
    const kind = method && KINDS.find(([, key]) => Reflect.hasMetadata(key, method))?.[0];
    return method && kind ? [{ kind, owner, name, method }] : [];
  });
}

function isClass(metatype: unknown): metatype is Type {
  return typeof metatype === 'function' && typeof metatype.prototype === 'object' && metatype.prototype !== null;
}
