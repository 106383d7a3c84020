import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { SessionAuthExtras, SessionAuthOptions } from './options/options.js';
import { EXTRAS } from './settings/option-table.js';

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<SessionAuthOptions>({ moduleName: 'SessionAuth' })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createSessionAuthOptions')
    .setExtras<SessionAuthExtras>(EXTRAS.fallback)
    .build();
