import type { ModulesContainer } from '@nestjs/core';

export type NestModule = ModulesContainer extends Map<string, infer Found> ? Found : never;

/** A provider, a controller or an injectable. */
export type Wrapper = NestModule['providers'] extends Map<unknown, infer Found> ? Found : never;

/** Returns what a class injects by its constructor, which has gaps for values, and by its properties. */
export function dependenciesOf(wrapper: Wrapper): (Wrapper | undefined)[] {
  const parameters = wrapper.getCtorMetadata() as (Wrapper | undefined)[] | undefined;
  const properties = wrapper.getPropertiesMetadata() as { readonly wrapper: Wrapper }[] | undefined;
  return [...(parameters ?? []), ...(properties ?? []).map((property) => property.wrapper)];
}
