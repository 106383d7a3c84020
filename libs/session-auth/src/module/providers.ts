import type { FactoryProvider, Provider } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { SessionHttpService } from '../client/session-http.service.js';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { ApplicationGuards, guardEveryHandler, GUARD_PROVIDERS } from '../guard/application-guards.js';
import { GUARD_PARTS } from '../guard/guard-parts.js';
import { SessionAuthErrorFilter } from '../guard/session-auth-error.filter.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { authorityProviders, guardPartsWith } from './authority-providers.js';
import { AuthorityTable } from './authorities/authority-table.js';
import { REGISTRATION_CHECKS, rejectMissingOptions } from './authorities/registration-checks.js';
import { MODULE_OPTIONS_TOKEN } from './module-definition.js';
import { SessionAuthEvents } from './events/session-auth-events.js';
import { SessionAuthService } from './service/session-auth.service.js';
import { SETTINGS, type SessionAuthSettings } from './settings/settings.js';
import { WarningLog } from './events/warning-log.js';

const applicationGuards: FactoryProvider<ApplicationGuards> = {
  provide: ApplicationGuards,
  useFactory: (modules: ModulesContainer, config: ApplicationConfig, guard: SessionAuthGuard) => {
    const guards = new ApplicationGuards(config, guard);
    guardEveryHandler(modules, guards);
    return guards;
  },
  inject: [ModulesContainer, ApplicationConfig, SessionAuthGuard],
};

const FILTER_OF_LAST_RESORT = Symbol('filter of last resort');

/**
 * Registers the filter below those of the application: Nest prefers the filter that was added last, and adds
 * those of `APP_FILTER` when all providers exist. `APP_FILTER` would register it above those of modules that
 * Nest scanned earlier, the root module among them.
 */
const filterOfLastResort: FactoryProvider<SessionAuthErrorFilter> = {
  provide: FILTER_OF_LAST_RESORT,
  useFactory: (config: ApplicationConfig, filter: SessionAuthErrorFilter) => {
    config.addGlobalFilter(filter);
    return filter;
  },
  inject: [ApplicationConfig, SessionAuthErrorFilter],
};

const authorities: FactoryProvider<AuthorityTable> = {
  provide: AuthorityTable,
  useFactory: (modules: ModulesContainer, { resolveAuthority }: SessionAuthSettings, log: WarningLog) =>
    new AuthorityTable(modules, resolveAuthority, log),
  inject: [ModulesContainer, SETTINGS, WarningLog],
};

/**
 * The providers of the registration without a name, in the order of the layers: options, client, verifier,
 * guard.
 */
export const PROVIDERS: Provider[] = [
  // `forRoot()` and `forRootAsync()` replace it.
  { provide: MODULE_OPTIONS_TOKEN, useFactory: rejectMissingOptions },
  ...REGISTRATION_CHECKS,
  ...authorityProviders(DEFAULT_AUTHORITY),
  authorities,
  guardPartsWith([AuthorityTable]),
  applicationGuards,
  ...GUARD_PROVIDERS,
  SessionAuthErrorFilter,
  filterOfLastResort,
];

/**
 * The providers that an application may inject. The parts of the guard are exported because Nest creates the
 * guard in each module that uses it.
 */
export const EXPORTS = [
  ...[SessionAuthService, SessionAuthEvents],
  ...[SessionAuthGuard, SessionHttpService, GUARD_PARTS],
];
