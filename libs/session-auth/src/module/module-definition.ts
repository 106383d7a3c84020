import { ConfigurableModuleBuilder, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import type { SessionAuthExtras } from './options/extras.js';
import type { SessionAuthOptions } from './options/options.js';
import { registrationProvider } from './authorities/registration.js';
import { UnopenedParts, unopenedParts } from './authorities/unopened-parts.js';
import { DEFAULTS } from './settings/defaults.js';
import { extrasCheck, pluginsIn } from './settings/extra-settings.js';

/** `forRoot` and `forRootAsync`, from Nest's own builder. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<SessionAuthOptions>({
    moduleName: 'SessionAuth',
  })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createSessionAuthOptions')
    .setExtras<SessionAuthExtras>(
      {
        isGlobal: DEFAULTS.isGlobal,
        protectAllRoutes: DEFAULTS.protectAllRoutes,
        name: DEFAULTS.name,
        plugins: [],
      },
      withExtras,
    )
    .build();

function withExtras(
  { imports = [], providers = [], exports = [], ...definition }: DynamicModule,
  extras: SessionAuthExtras,
): DynamicModule {
  const isGlobal = extras.isGlobal ?? DEFAULTS.isGlobal;
  const protectAllRoutes = extras.protectAllRoutes ?? DEFAULTS.protectAllRoutes;
  const name = extras.name ?? DEFAULTS.name;
  const guard =
    protectAllRoutes && name === DEFAULT_AUTHORITY
      ? [{ provide: APP_GUARD, useExisting: SessionAuthGuard }]
      : [];
  const registration = registrationProvider({
    isForWholeApplication: isGlobal || protectAllRoutes,
    name,
    protectsAllRoutes: protectAllRoutes,
  });
  const parts = [...pluginsIn(extras.plugins)].map((plugin) => plugin.open(name));
  const opened = parts.flatMap((part) => part.exports);
  return {
    ...definition,
    global: isGlobal,
    imports: [...imports, unopenedParts(name, opened)],
    providers: [
      ...providers,
      ...guard,
      registration,
      extrasCheck(extras, name),
      ...parts.flatMap((part) => part.providers),
    ],
    exports: [...exports, ...opened, UnopenedParts],
  };
}
