import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { SessionAuthExtras, SessionAuthOptions } from './options/options.js';
import { EXTRAS } from './settings/option-defaults.js';

/** `forRoot` and `forRootAsync`, from Nest's own builder: they provide the options, without the extras. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<SessionAuthOptions>({ moduleName: 'SessionAuth' })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createSessionAuthOptions')
    .setExtras<SessionAuthExtras>(EXTRAS.fallback)
    .build();
