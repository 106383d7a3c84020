import {
  type DynamicModule,
  type FactoryProvider,
  type InjectionToken,
  Module,
  type OnModuleInit,
  Scope,
} from '@nestjs/common';
import { INQUIRER, ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { dependenciesOf, type Wrapper } from '../../guard/nest-container.js';
import { PLUGIN_CLASSES } from '../options/plugins.js';
import { authorityToken } from './authority-tokens.js';

/** The factories that reject the injection of a class. They get the name of what injects it. */
const rejections = new WeakMap<object, (consumer: string) => never>();

/** Provides the classes of plugins that an authority does not name: the start fails where one is injected. */
@Module({})
export class UnopenedParts implements OnModuleInit {
  /** @internal Created by Nest. */
  constructor(private readonly modules: ModulesContainer) {}

  /** Checks what Nest creates for each request, and has not created yet. @throws InvalidConfigurationError */
  onModuleInit(): void {
    for (const { controllers, providers, injectables } of this.modules.values()) {
      for (const wrapper of [...controllers.values(), ...providers.values(), ...injectables.values()]) {
        if (!wrapper.isDependencyTreeStatic()) checkDependencies(wrapper);
      }
    }
  }
}

function checkDependencies(wrapper: Wrapper): void {
  for (const dependency of dependenciesOf(wrapper)) {
    const factory: unknown = dependency?.metatype;
    if (typeof factory === 'function') rejections.get(factory)?.(String(wrapper.name));
  }
}

/**
 * Returns the module of the classes that no plugin of an authority provides. Nest reads its members when all
 * files of the application are loaded. Not a forward reference, which older releases of NestJS 11 take for a
 * class.
 */
export function unopenedParts(authority: string, opened: readonly InjectionToken[]): DynamicModule {
  let rejected: FactoryProvider<never>[] | undefined;
  const providers = (): FactoryProvider<never>[] =>
    (rejected ??= [...PLUGIN_CLASSES].flatMap(([provided, { name, plugin }]) => {
      const token = authorityToken(authority, provided);
      return opened.includes(token) ? [] : [rejection(token, name, plugin)];
    }));
  return {
    module: UnopenedParts,
    get providers() {
      return providers();
    },
    get exports() {
      return providers().map(({ provide }) => provide);
    },
  };
}

/** Nest creates a transient provider for each class that injects it, and never otherwise. */
function rejection(provide: InjectionToken, name: string, plugin: string): FactoryProvider<never> {
  const reject = (consumer: string): never => {
    throw new InvalidConfigurationError(
      `${consumer} needs ${name}, which SessionAuthModule does not provide here. Add ${plugin} to plugins in its options.`,
    );
  };
  const useFactory = (consumer: object | undefined): never =>
    reject(consumer?.constructor.name ?? 'A provider');
  rejections.set(useFactory, reject);
  return { provide, scope: Scope.TRANSIENT, useFactory, inject: [INQUIRER] };
}
