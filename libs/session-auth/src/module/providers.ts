import {
  type CanActivate,
  type DynamicModule,
  type FactoryProvider,
  Injectable,
  type InjectionToken,
  type Provider,
  Scope,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD, ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { SessionHttpService } from '../client/session-http.service.js';
import { isSessionAuthError } from '../contract/errors.js';
import { SessionServiceUnavailableError, TooManyAttemptsError } from '../exceptions/session-exceptions.js';
import { GUARD_REGISTRATION, type GuardRegistration } from '../guard/guard-registration.js';
import { SessionAuthErrorFilter } from '../guard/session-auth-error.filter.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import type { ContextKind } from '../guard/transport.js';
import { SessionAuthEvents } from './events/session-auth-events.js';
import { USED_KINDS } from './context-kinds.module.js';
import { MODULE_OPTIONS_TOKEN, EXTRAS_OF_REGISTRATION } from './module-definition.js';
import type { SessionAuthExtras, SessionAuthOptions } from './options/options.js';
import { type CallReport, SessionAuthService } from './service/session-auth.service.js';
import { readExtras } from './settings/settings.js';
import { unopenedParts } from './unopened-parts.js';
import {
  CLIENT_FACTORY,
  type ClientFactory,
  clientOf,
  clientSetupOf,
  REGISTRATION,
  registrationOf,
  type Registration,
} from './wiring.js';

function ofRegistration(
  provide: InjectionToken,
  useFactory: (registration: Registration) => unknown,
): FactoryProvider {
  return { provide, useFactory, inject: [REGISTRATION] };
}

const REGISTRATION_PROVIDERS: readonly Provider[] = [
  // A provider of its own, because TestSessions replaces it.
  { provide: CLIENT_FACTORY, useValue: clientOf },
  {
    provide: REGISTRATION,
    useFactory: async (
      options: SessionAuthOptions,
      extras: SessionAuthExtras,
      modules: ModulesContainer,
      newClient: ClientFactory,
    ): Promise<Registration> => {
      const setup = await clientSetupOf(options, extras, modules);
      return registrationOf(setup, await newClient(setup), modules);
    },
    inject: [MODULE_OPTIONS_TOKEN, EXTRAS_OF_REGISTRATION, ModulesContainer, CLIENT_FACTORY],
  },
  ofRegistration(GUARD_REGISTRATION, ({ guard }) => guard),
  ofRegistration(SessionAuthService, (registration) => {
    const { client, verifier, deadlines, settings } = registration;
    return new SessionAuthService(client, verifier, deadlines, settings, callReport(registration));
  }),
  ofRegistration(
    SessionAuthEvents,
    ({ events, causes }) =>
      new SessionAuthEvents(events, (name) => causes.occurred('event subscriber failed', name)),
  ),
  // Transient, so that Nest creates it only where it is injected: one service, which loads axios.
  { ...ofRegistration(SessionHttpService, ({ requests }) => requests.http()), scope: Scope.TRANSIENT },
];

function callReport({ causes, status, guard: { decisions } }: Registration): CallReport {
  return (operation, error) => {
    if (operation === 'sign_in' && isSessionAuthError(error)) decisions.signInFailed(error);
    if (error instanceof SessionServiceUnavailableError) causes.callFailed(operation, error.reason);
    else if (error instanceof TooManyAttemptsError) causes.callFailed(operation, 'rate_limited');
    else if (error === undefined || isSessionAuthError(error)) {
      causes.callAnswered(operation, error === undefined);
      if (operation === 'sign_in') status.signInAnswered(error === undefined);
    }
  };
}

/** Names the guard: `overrideGuard()` replaces it, even if no controller names it. */
@Injectable()
@UseGuards(SessionAuthGuard)
class GuardedHost {}

/**
 * The guard of the whole application. `overrideGuard(SessionAuthGuard)` of @nestjs/testing replaces only the
 * guards that classes and handlers name, and keeps a test from overriding the provider.
 */
const guard: FactoryProvider<SessionAuthGuard> = {
  provide: SessionAuthGuard,
  useFactory: (registration: GuardRegistration, modules: ModulesContainer) => {
    const named = [...modules.values()].flatMap(({ injectables }) => injectables.get(SessionAuthGuard) ?? []);
    const replacement = named.find(({ metatype }) => metatype !== SessionAuthGuard);
    const own = new SessionAuthGuard(registration);
    if (replacement)
      // Nest creates the replacement later, unless it is a value.
      own.canActivate = (context) => (replacement.instance as CanActivate).canActivate(context) as boolean;
    return own;
  },
  inject: [GUARD_REGISTRATION, ModulesContainer],
};

/**
 * Registers the guards of handlers that Nest calls without them; and the filter, below those of the
 * application: Nest prefers the filter that was added last, and adds those of `APP_FILTER` when all providers
 * exist, in the order in which it scanned their modules.
 */
const applicationEnhancers: FactoryProvider<void> = {
  provide: Symbol('application enhancers'),
  useFactory: (
    modules: ModulesContainer,
    config: ApplicationConfig,
    guard: SessionAuthGuard,
    filter: SessionAuthErrorFilter,
    kinds: readonly ContextKind[],
  ) => {
    config.addGlobalFilter(filter);
    for (const kind of kinds) kind.guardHandlers?.(modules, config, guard);
  },
  inject: [ModulesContainer, ApplicationConfig, SessionAuthGuard, SessionAuthErrorFilter, USED_KINDS],
};

/** Nest creates the guard in each module that uses it, from this value. */
const EXPORTED = [
  SessionAuthService,
  SessionAuthEvents,
  SessionHttpService,
  SessionAuthGuard,
  GUARD_REGISTRATION,
];

export function registrationModule(
  { providers = [], ...definition }: DynamicModule,
  given: SessionAuthExtras,
): DynamicModule {
  const extras = readExtras(given);
  const { isGlobal, protectAllRoutes, plugins } = extras;
  const parts = [...new Set(plugins)].map((plugin) => plugin.open());
  const exported = parts.flatMap((part) => part.exports);
  return {
    ...definition,
    global: isGlobal,
    // Nest reads both when all files of the application are loaded, and have named the classes of plugins.
    get providers(): Provider[] {
      return [
        ...providers,
        { provide: EXTRAS_OF_REGISTRATION, useValue: extras },
        ...REGISTRATION_PROVIDERS,
        GuardedHost,
        guard,
        SessionAuthErrorFilter,
        applicationEnhancers,
        ...(protectAllRoutes ? [{ provide: APP_GUARD, useExisting: SessionAuthGuard }] : []),
        ...parts.flatMap((part) => part.providers),
        ...unopenedParts(exported),
      ];
    },
    get exports(): InjectionToken[] {
      return [...EXPORTED, ...exported, ...unopenedParts(exported).map(({ provide }) => provide)];
    },
  };
}
