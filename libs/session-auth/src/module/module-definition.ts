import { ConfigurableModuleBuilder, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import type { SessionAuthExtras, SessionAuthOptions } from './options.js';

/** Nest's own builder makes `forRoot` and `forRootAsync`. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<SessionAuthOptions>({
  moduleName: 'SessionAuth',
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createSessionAuthOptions')
  .setExtras<SessionAuthExtras>({ isGlobal: true, protectAllRoutes: false }, withExtras)
  .build();

function withExtras(definition: DynamicModule, { isGlobal, protectAllRoutes }: SessionAuthExtras): DynamicModule {
  const guard = protectAllRoutes ? [{ provide: APP_GUARD, useExisting: SessionAuthGuard }] : [];
  return { ...definition, global: isGlobal ?? true, providers: [...(definition.providers ?? []), ...guard] };
}
