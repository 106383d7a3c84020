import { ConfigurableModuleBuilder, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import type { SessionAuthExtras, SessionAuthOptions } from './options/options.js';
import { authorityProvider } from './authorities/authority.js';
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
  const { fallback } = EXTRAS;
  const {
    name = fallback.name,
    isGlobal = fallback.isGlobal,
    protectAllRoutes = fallback.protectAllRoutes,
    plugins = fallback.plugins,
  } = given;
  const guard =
    protectAllRoutes && name === DEFAULT_AUTHORITY
      ? [{ provide: APP_GUARD, useExisting: SessionAuthGuard }]
      : [];
  const authority = authorityProvider({
    isForWholeApplication: isGlobal || protectAllRoutes,
    name,
    protectsAllRoutes: protectAllRoutes,
    extras: { name, isGlobal, protectAllRoutes, plugins },
  });
  // Any other value stops the start, when the options are read.
  const opened = new Set(Array.isArray(plugins) ? plugins.filter(isPlugin) : []);
  const parts = [...opened].map((plugin) => plugin.open(name));
  const exported = parts.flatMap((part) => part.exports);
  return {
    ...definition,
    global: isGlobal,
    imports: [...imports, unopenedParts(name, exported)],
    providers: [...providers, ...guard, authority, ...parts.flatMap((part) => part.providers)],
    exports: [...exports, ...exported, UnopenedParts],
  };
}
