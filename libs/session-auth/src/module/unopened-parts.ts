import { type FactoryProvider, type InjectionToken, Scope } from '@nestjs/common';
import { INQUIRER, type ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import { dependenciesOf, type Wrapper } from '../guard/nest-container.js';
import { PLUGIN_CLASSES } from './options/plugins.js';

/** The factories that reject the injection of a class. They get the name of what injects it. */
const rejections = new WeakMap<object, (consumer: string) => never>();

/** Checks what Nest creates for each request, and has not created yet. */
export function rejectUnopenedParts(modules: ModulesContainer): void {
  for (const { controllers, providers, injectables } of modules.values()) {
    for (const wrapper of [...controllers.values(), ...providers.values(), ...injectables.values()]) {
      if (!wrapper.isDependencyTreeStatic()) checkDependencies(wrapper);
    }
  }
}

function checkDependencies(wrapper: Wrapper): void {
  for (const dependency of dependenciesOf(wrapper)) {
    const factory: unknown = dependency?.metatype;
    if (typeof factory === 'function') rejections.get(factory)?.(String(wrapper.name));
  }
}

/** Providers of the classes that no plugin of a registration provides: the start fails where one is injected. */
export function unopenedParts(opened: readonly InjectionToken[]): FactoryProvider<never>[] {
  return [...PLUGIN_CLASSES].flatMap(([provided, { name, plugin }]) =>
    opened.includes(provided) ? [] : [rejection(provided, name, plugin)],
  );
}

/** Nest creates a transient provider for each class that injects it, and never otherwise. */
function rejection(provide: InjectionToken, name: string, plugin: string): FactoryProvider<never> {
  const reject = (consumer: string): never => {
    throw new InvalidConfigurationError(
      `${consumer} needs ${name}, which SessionAuthModule does not provide here. Add ${plugin} to plugins (with forRootAsync: beside useFactory).`,
    );
  };
  const useFactory = (consumer: object | undefined): never =>
    reject(consumer?.constructor.name ?? 'A provider');
  rejections.set(useFactory, reject);
  return { provide, scope: Scope.TRANSIENT, useFactory, inject: [INQUIRER] };
}
