import 'reflect-metadata';
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
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { SessionClient } from '../client/session-client.js';
import { SessionHttpService } from '../client/session-http.service.js';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { GUARD_PARTS, type GuardParts } from '../guard/guard-parts.js';
import { SessionAuthErrorFilter } from '../guard/session-auth-error.filter.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import type { ContextKind } from '../guard/transport.js';
import { authorityToken } from './authorities/authority-tokens.js';
import { AUTHORITY } from './authorities/authority.js';
import { SessionAuthEvents } from './events/session-auth-events.js';
import { USED_KINDS } from './context-kinds.module.js';
import { MODULE_OPTIONS_TOKEN } from './module-definition.js';
import { callReport } from './reports.js';
import { SessionAuthService } from './service/session-auth.service.js';
import type { SessionAuthSettings } from './settings/settings.js';
import { clientOf, CLIENT_PARTS, clientPartsOf, PARTS, partsOf, type AuthorityParts } from './wiring.js';

/** Token of the function that audits the application, for an authority. */
export const AUDIT = Symbol('audit');

type Audit = (modules: ModulesContainer, config: ApplicationConfig, settings: SessionAuthSettings) => void;

const AUDIT_PART: { readonly load?: () => Promise<{ readonly auditApplication: Audit }> } = {
  load: () => import('../audit/boot-audit.js'),
};

async function auditOf(
  { settings }: AuthorityParts,
  modules: ModulesContainer,
  config: ApplicationConfig,
): Promise<() => void> {
  const part = settings.audit === 'off' ? undefined : await AUDIT_PART.load?.();
  return () => part?.auditApplication(modules, config, settings);
}

/** Returns the provider of an object that is made of the parts of an authority. */
function ofParts<Injected extends unknown[]>(
  provide: InjectionToken,
  useFactory: (parts: AuthorityParts, ...injected: Injected) => unknown,
  ...inject: { [Index in keyof Injected]: InjectionToken<Injected[Index]> }
): FactoryProvider {
  return { provide, useFactory: useFactory as FactoryProvider['useFactory'], inject: [PARTS, ...inject] };
}

/** Returns the providers that each authority has, with or without a name, from its options to its audit. */
function providersOf(name: string): Provider[] {
  const client = authorityToken(name, SessionClient);
  return [
    {
      provide: CLIENT_PARTS,
      useFactory: clientPartsOf,
      inject: [MODULE_OPTIONS_TOKEN, AUTHORITY, ModulesContainer],
    },
    // A provider of its own, because TestSessions replaces it.
    { provide: client, useFactory: clientOf, inject: [CLIENT_PARTS] },
    { provide: PARTS, useFactory: partsOf, inject: [CLIENT_PARTS, client, ModulesContainer] },
    ofParts(GUARD_PARTS, ({ guard }) => guard),
    ofParts(
      authorityToken(name, SessionAuthService),
      ({ settings, verifier, deadlines, causes, guard }, sessions: SessionClient<UserRecord>) => {
        const limits = { ...settings, maxTokenLength: settings.http.maxTokenLength };
        return new SessionAuthService(sessions, verifier, deadlines, limits, callReport(causes, guard));
      },
      client,
    ),
    ofParts(
      authorityToken(name, SessionAuthEvents),
      ({ events: source, causes }) =>
        new SessionAuthEvents(source, () => causes.occurred('decision subscriber failed')),
    ),
    // Transient, so that Nest creates it only where it is injected: one service, which loads axios.
    {
      ...ofParts(authorityToken(name, SessionHttpService), ({ requests }) => requests.http()),
      scope: Scope.TRANSIENT,
    },
    ofParts(AUDIT, auditOf, ModulesContainer, ApplicationConfig),
  ];
}

/**
 * Names the guard, so that this module has one that `overrideGuard()` replaces, even if no controller names
 * it.
 */
@Injectable()
@UseGuards(SessionAuthGuard)
class GuardedHost {}

/**
 * The guard of the whole application. `overrideGuard(SessionAuthGuard)` of @nestjs/testing replaces only the
 * guards that classes and handlers name, and a test cannot override the provider beside them, because a
 * builder keeps one override for each token.
 */
const guard: FactoryProvider<SessionAuthGuard> = {
  provide: SessionAuthGuard,
  useFactory: (parts: GuardParts, modules: ModulesContainer) => {
    const named = [...modules.values()].flatMap(({ injectables }) => injectables.get(SessionAuthGuard) ?? []);
    const replacement = named.find(({ metatype }) => metatype !== SessionAuthGuard);
    const own = new SessionAuthGuard(parts);
    if (replacement)
      // Nest creates the replacement later, unless it is a value.
      own.canActivate = (context) => (replacement.instance as CanActivate).canActivate(context) as boolean;
    return own;
  },
  inject: [GUARD_PARTS, ModulesContainer],
};

export const GUARD_PROVIDERS: Provider[] = [GuardedHost, guard];

/**
 * Registers the guards of handlers that Nest calls without them; and the filter, below those of the
 * application: Nest prefers the filter that was added last, and adds those of `APP_FILTER` when all providers
 * exist. `APP_FILTER` would register it above those of modules that Nest scanned earlier, the root module
 * among them.
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

/**
 * Rejects the import of the class itself, as the factory of the options. @throws InvalidConfigurationError
 * always
 */
function rejectMissingOptions(): never {
  throw new InvalidConfigurationError(
    'SessionAuthModule is imported without options. Import SessionAuthModule.forRoot({ baseUrl, apiKey }) in the root module: other modules need no import.',
  );
}

export const PROVIDERS: Provider[] = [
  // `forRoot()` and `forRootAsync()` replace it.
  { provide: MODULE_OPTIONS_TOKEN, useFactory: rejectMissingOptions },
  ...providersOf(DEFAULT_AUTHORITY),
  ...GUARD_PROVIDERS,
  SessionAuthErrorFilter,
  applicationEnhancers,
];

/**
 * The providers that an application may inject. The parts of the guard are exported because Nest creates the
 * guard in each module that uses it.
 */
export const EXPORTS = [
  ...[SessionAuthService, SessionAuthEvents],
  ...[SessionAuthGuard, SessionHttpService, GUARD_PARTS],
];

/**
 * Returns the providers and the exports of a named authority. None of their tokens is a class that
 * the default authority provides: Nest would give each module the provider of one of the two, by
 * the order of imports.
 */
export function namedAuthority(name: string): Required<Pick<DynamicModule, 'providers' | 'exports'>> {
  const classes = [SessionAuthService, SessionAuthEvents, SessionHttpService];
  return { providers: providersOf(name), exports: classes.map((each) => authorityToken(name, each)) };
}
