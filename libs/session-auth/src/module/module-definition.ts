import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { NestModule } from '../guard/nest-container.js';
import type { SessionAuthExtras, SessionAuthOptions } from './options/options.js';
import { EXTRAS } from './settings/option-table.js';

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<SessionAuthOptions>({ moduleName: 'SessionAuth' })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createSessionAuthOptions')
    .setExtras<SessionAuthExtras>(EXTRAS.fallback)
    .build();

/** Token of the extras of a registration. All copies of this package share it. */
export const EXTRAS_OF_REGISTRATION = Symbol.for('nestjs-session-auth:extras');

/** Returns the extras of the registration that a module is; `undefined` for any other module. */
export function extrasOf({ providers }: NestModule): Required<SessionAuthExtras> | undefined {
  return providers.get(EXTRAS_OF_REGISTRATION)?.instance as Required<SessionAuthExtras> | undefined;
}
