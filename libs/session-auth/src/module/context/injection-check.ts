import type { OnModuleInit } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../../contract/errors.js';

type NestModule = ModulesContainer extends Map<string, infer Found> ? Found : never;
type Wrapper = NestModule['providers'] extends Map<unknown, infer Found> ? Found : never;

/** Stops the start if a class injects what does not work without `asyncContext`. Nest has created all static providers by then. */
export class InjectionCheck implements OnModuleInit {
  readonly #modules: ModulesContainer;
  readonly #unusable: readonly object[];

  /** @param unusable the objects that must not be injected */
  constructor(modules: ModulesContainer, unusable: readonly object[]) {
    this.#modules = modules;
    this.#unusable = unusable;
  }

  /** @throws InvalidConfigurationError naming the class and what it injects */
  onModuleInit(): void {
    for (const { controllers, providers, injectables } of this.#modules.values()) {
      for (const wrapper of [...controllers.values(), ...providers.values(), ...injectables.values()]) this.#check(wrapper);
    }
  }

  #check(wrapper: Wrapper): void {
    if (wrapper.instance === this || this.#unusable.includes(wrapper.instance as object)) return;
    const found = dependenciesOf(wrapper).find((dependency) => this.#unusable.includes(dependency?.instance as object));
    if (!found) return;
    throw new InvalidConfigurationError(
      `${wrapper.name} injects ${found.name}, which needs asyncContext. Set asyncContext: true in the options of SessionAuthModule.`,
    );
  }
}

/** Of the constructor and of properties. A list is absent if there are none, and has gaps for values. */
function dependenciesOf(wrapper: Wrapper): (Wrapper | undefined)[] {
  const parameters = wrapper.getCtorMetadata() as (Wrapper | undefined)[] | undefined;
  const properties = wrapper.getPropertiesMetadata() as { readonly wrapper: Wrapper }[] | undefined;
  return [...(parameters ?? []), ...(properties ?? []).map((property) => property.wrapper)];
}
