import { ConfigurableModuleBuilder, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import type { SessionAuthExtras, SessionAuthOptions } from './options/options.js';
import { AUTHORITY, type Authority } from './authorities/authority.js';
import { UnopenedParts, unopenedParts } from './authorities/unopened-parts.js';
import { EXTRAS, isPlugin } from './settings/option-defaults.js';

/** `forRoot` and `forRootAsync`, from Nest's own builder. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<SessionAuthOptions>({
    moduleName: 'SessionAuth',
  })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createSessionAuthOptions')
    .setExtras<SessionAuthExtras>(EXTRAS.fallback, withExtras)
    .build();

function withExtras(
  { imports = [], providers = [], exports = [], ...definition }: DynamicModule,
  given: SessionAuthExtras,
): DynamicModule {
  const { name: unnamed, isGlobal: usual, protectAllRoutes: open } = EXTRAS.fallback;
  const { name = unnamed, isGlobal = usual, protectAllRoutes = open, plugins = [] } = given;
  const guard =
    protectAllRoutes && name === DEFAULT_AUTHORITY
      ? [{ provide: APP_GUARD, useExisting: SessionAuthGuard }]
      : [];
  const authority: Authority = {
    isForWholeApplication: isGlobal || protectAllRoutes,
    name,
    protectsAllRoutes: protectAllRoutes,
    extras: { name, isGlobal, protectAllRoutes, plugins },
  };
  // Any other value stops the start, when the options are read.
  const opened = new Set(Array.isArray(plugins) ? plugins.filter(isPlugin) : []);
  const parts = [...opened].map((plugin) => plugin.open(name));
  const exported = parts.flatMap((part) => part.exports);
  return {
    ...definition,
    global: isGlobal,
    imports: [...imports, unopenedParts(name, exported)],
    providers: [
      ...providers,
      ...guard,
      { provide: AUTHORITY, useValue: authority },
      ...parts.flatMap((part) => part.providers),
    ],
    exports: [...exports, ...exported, UnopenedParts],
  };
}
