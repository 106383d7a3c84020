import { ConfigurableModuleBuilder, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import type { SessionAuthExtras, SessionAuthOptions } from './options.js';
import { registrationProvider } from './registration.js';
import { DEFAULTS } from './settings/defaults.js';

/** `forRoot` and `forRootAsync`, from Nest's own builder. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<SessionAuthOptions>({
  moduleName: 'SessionAuth',
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createSessionAuthOptions')
  .setExtras<SessionAuthExtras>({ isGlobal: DEFAULTS.isGlobal, protectAllRoutes: DEFAULTS.protectAllRoutes }, withExtras)
  .build();

function withExtras(definition: DynamicModule, extras: SessionAuthExtras): DynamicModule {
  const isGlobal = extras.isGlobal ?? DEFAULTS.isGlobal;
  const protectAllRoutes = extras.protectAllRoutes ?? DEFAULTS.protectAllRoutes;
  const guard = protectAllRoutes ? [{ provide: APP_GUARD, useExisting: SessionAuthGuard }] : [];
  const registration = registrationProvider(isGlobal || protectAllRoutes);
  return { ...definition, global: isGlobal, providers: [...(definition.providers ?? []), ...guard, registration] };
}
