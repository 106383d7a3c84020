import type { FactoryProvider, Provider } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { Deadlines } from '../client/deadline.js';
import { SessionClient } from '../client/session-client.js';
import { SessionHttpService } from '../client/http/session-http.service.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { SessionContext } from '../guard/context/session-context.js';
import { AccessRules } from '../guard/access/access-metadata.js';
import { ApplicationGuards } from '../guard/access/application-guards.js';
import { GUARD_PARTS, type GuardParts } from '../guard/guard-parts.js';
import { PresentedSessions } from '../guard/session/presented-session.js';
import { SessionAuthErrorFilter } from '../guard/session-auth-error.filter.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import { BootAudit } from './audit/boot-audit.js';
import { CONTEXT_PROVIDERS } from './context/context-providers.js';
import { CLIENT_PROVIDERS, VERIFIER_PROVIDER } from './core-providers.js';
import { guardEveryHandler } from './guard-every-handler.js';
import { GUARD_PROVIDERS } from './guard-provider.js';
import { ApplicationPolicies } from './policies/application-policies.js';
import { REGISTRATION_CHECKS } from './registration-checks.js';
import { WarningLog } from './warning-log.js';
import { EventSource } from './event-source.js';
import { SessionAuthEvents } from './session-auth-events.js';
import { SessionAuthService } from './service/session-auth.service.js';
import { SessionRelay } from './relay/session-relay.js';
import { SessionSockets } from './sockets/session-sockets.js';
import { SETTINGS, SETTINGS_PROVIDERS } from './settings/settings-providers.js';
import type { SessionAuthSettings } from './settings/settings.js';

const service: FactoryProvider<SessionAuthService> = {
  provide: SessionAuthService,
  useFactory: (sessions: SessionClient<UserRecord>, checks: SessionVerifier<UserRecord>, deadlines: Deadlines, set: SessionAuthSettings) =>
    new SessionAuthService(sessions, checks, deadlines, { ...set, maxTokenLength: set.http.maxTokenLength }),
  inject: [SessionClient, SessionVerifier, Deadlines, SETTINGS],
};

const guardParts: FactoryProvider<GuardParts> = {
  provide: GUARD_PARTS,
  useFactory: (
    checks: SessionVerifier<UserRecord>,
    { sources, forwardAuthIv, http: { maxTokenLength } }: SessionAuthSettings,
    policies: ApplicationPolicies,
  ) => ({
    rules: new AccessRules(policies),
    presented: new PresentedSessions({ sources, forwardAuthIv, maxTokenLength }),
    verifier: checks,
  }),
  inject: [SessionVerifier, SETTINGS, ApplicationPolicies],
};

const policies: FactoryProvider<ApplicationPolicies> = {
  provide: ApplicationPolicies,
  useFactory: (modules: ModulesContainer) => ApplicationPolicies.of(modules),
  inject: [ModulesContainer],
};

const audit: FactoryProvider<BootAudit> = {
  provide: BootAudit,
  useFactory: (modules: ModulesContainer, config: ApplicationConfig, set: SessionAuthSettings) => new BootAudit(modules, config, set.audit),
  inject: [ModulesContainer, ApplicationConfig, SETTINGS],
};

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
 * Registers the filter below those of the application: Nest prefers the filter that was added last, and adds those of `APP_FILTER` when all
 * providers exist. `APP_FILTER` would register it above those of modules that Nest scanned earlier, the root module among them.
 */
const filterOfLastResort: FactoryProvider<SessionAuthErrorFilter> = {
  provide: FILTER_OF_LAST_RESORT,
  useFactory: (config: ApplicationConfig, filter: SessionAuthErrorFilter) => {
    config.addGlobalFilter(filter);
    return filter;
  },
  inject: [ApplicationConfig, SessionAuthErrorFilter],
};

const events: FactoryProvider<SessionAuthEvents> = {
  provide: SessionAuthEvents,
  useFactory: (source: EventSource) => new SessionAuthEvents(source),
  inject: [EventSource],
};

const sockets: FactoryProvider<SessionSockets> = {
  provide: SessionSockets,
  useFactory: (parts: GuardParts, events: SessionAuthEvents, source: EventSource, log: WarningLog) =>
    new SessionSockets(parts, events, source, log),
  inject: [GUARD_PARTS, SessionAuthEvents, EventSource, WarningLog],
};

/** The providers of the module, in the order of the layers: options, client, verifier, guard. */
export const PROVIDERS: Provider[] = [
  ...REGISTRATION_CHECKS,
  ...SETTINGS_PROVIDERS,
  ...CLIENT_PROVIDERS,
  EventSource,
  events,
  VERIFIER_PROVIDER,
  service,
  policies,
  guardParts,
  audit,
  applicationGuards,
  sockets,
  ...CONTEXT_PROVIDERS,
  ...GUARD_PROVIDERS,
  SessionAuthErrorFilter,
  filterOfLastResort,
];

/** What an application may inject. The parts of the guard are exported because Nest creates the guard in each module that uses it. */
export const EXPORTS = [
  ...[SessionAuthService, SessionAuthEvents, SessionSockets, SessionContext, SessionRelay],
  ...[SessionAuthGuard, SessionHttpService, GUARD_PARTS],
];
