import type { OnModuleInit } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { dependenciesOf, type Wrapper } from '../handlers/nest-container.js';

/**
 * Makes startup fail if a class injects a provider that needs `asyncContext`, and the option is off. Nest has created all static providers
 * by then.
 */
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
