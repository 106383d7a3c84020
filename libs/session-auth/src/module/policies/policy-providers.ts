import 'reflect-metadata';
import { Scope, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { NestModule } from '../handlers/nest-container.js';

/** Returns Nest's reference of a module, which creates and resolves in it. */
export function moduleRefOf({ providers }: NestModule): ModuleRef {
  return providers.get(ModuleRef)?.instance as ModuleRef;
}

/**
 * Returns the module whose provider of a policy, or of a dependency, is visible in a module: its own, or one
 * that an imported module exports.
 */
export function providerModuleOf(module: NestModule, policy: Type): NestModule | undefined {
  return module.providers.has(policy) ? module : exporterOf(policy, [...module.imports], new Set());
}

/**
 * Searches imports as Nest's injector does: a module passes on what the modules export that it exports
 * itself.
 */
function exporterOf(
  policy: Type,
  imports: readonly NestModule[],
  seen: Set<NestModule>,
): NestModule | undefined {
  for (const imported of imports) {
    if (seen.has(imported)) continue;
    seen.add(imported);
    if (imported.exports.has(policy) && imported.providers.has(policy)) return imported;
    const passedOn = [...imported.imports].filter(({ metatype }) => imported.exports.has(metatype));
    const found = exporterOf(policy, passedOn, seen);
    if (found) return found;
  }
  return undefined;
}

/**
 * Nest's metadata keys of the scope of a class, of the types of its parameters, and of the tokens that
 * replace them.
 */
const SCOPE = 'scope:options';
const TYPES = 'design:paramtypes';
const TOKENS = 'self:paramtypes';
const PROPERTIES = 'self:properties_metadata';

/**
 * Returns whether a class is request-scoped or transient, or has a request-scoped dependency in its module.
 * Asked before `ModuleRef.create()`, whose promise never settles for such a class in some versions of Nest.
 */
export function isScoped(policy: Type, home: NestModule): boolean {
  const own =
    (Reflect.getMetadata(SCOPE, policy) as { readonly scope?: Scope } | undefined)?.scope ?? Scope.DEFAULT;
  return own !== Scope.DEFAULT || dependencyTokensOf(policy).some((token) => isRequestScoped(token, home));
}

function dependencyTokensOf(policy: Type): unknown[] {
  const types = [...((Reflect.getMetadata(TYPES, policy) ?? []) as unknown[])];
  const tokens = (Reflect.getMetadata(TOKENS, policy) ?? []) as readonly {
    readonly index: number;
    readonly param: unknown;
  }[];
  for (const { index, param } of tokens) types[index] = param;
  const properties = (Reflect.getMetadata(PROPERTIES, policy) ?? []) as readonly { readonly type: unknown }[];
  return [...types, ...properties.map(({ type }) => type)];
}

/** One that Nest does not find is not scoped: Nest's error names it when the policy is created. */
function isRequestScoped(dependency: unknown, home: NestModule): boolean {
  const reference = dependency as { readonly forwardRef?: () => unknown } | undefined;
  const token = (reference?.forwardRef ? reference.forwardRef() : dependency) as Type;
  const provider = providerModuleOf(home, token)?.providers.get(token);
  return provider !== undefined && !provider.isDependencyTreeStatic();
}
