import type { DynamicModule, FactoryProvider, InjectionToken, Provider } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { Deadlines } from '../client/deadline.js';
import type { SessionClient } from '../client/session-client.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { AccessRules } from '../guard/access-metadata.js';
import { Decisions } from '../guard/decisions.js';
import { type Authorities, GUARD_PARTS, type GuardParts } from '../guard/guard-parts.js';
import { SessionReader } from '../guard/session-reader.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import { tokensOf } from './authorities/authority-tokens.js';
import { NAMED_REGISTRATION_CHECKS } from './authorities/registration-checks.js';
import { clientProviders, verifierProvider } from './core-providers.js';
import { EventSource, sessionEnds } from './events/event-source.js';
import { SessionAuthEvents } from './events/session-auth-events.js';
import { replyOpened } from './open-replies.js';
import { serviceOf } from './service/named-session-auth.service.js';
import type { SessionAuthService } from './service/session-auth.service.js';
import { ApplicationPolicies } from './handlers/policies.js';
import { SETTINGS_PROVIDERS } from './settings-providers.js';
import { SETTINGS, type SessionAuthSettings } from './settings/settings.js';
import { WarningLog } from './events/warning-log.js';

const serviceAs = (provide: InjectionToken, client: InjectionToken): FactoryProvider<SessionAuthService> => ({
  provide,
  useFactory: (
    sessions: SessionClient<UserRecord>,
    checks: SessionVerifier<UserRecord>,
    deadlines: Deadlines,
    set: SessionAuthSettings,
  ) =>
    serviceOf(set.authority, sessions, checks, deadlines, {
      ...set,
      maxTokenLength: set.http.maxTokenLength,
    }),
  inject: [client, SessionVerifier, Deadlines, SETTINGS],
});

const eventsAs = (provide: InjectionToken): FactoryProvider<SessionAuthEvents> => ({
  provide,
  useFactory: (source: EventSource, log: WarningLog) =>
    new SessionAuthEvents(source, () => log.decisionSubscriberFailed()),
  inject: [EventSource, WarningLog],
});

/** Token of the function that audits the application, for a registration. */
export const AUDIT = Symbol('audit');

type Audit = (modules: ModulesContainer, config: ApplicationConfig, settings: SessionAuthSettings) => void;

const AUDIT_PART: { readonly load?: () => Promise<{ readonly auditApplication: Audit }> } = {
  load: () => import('../audit/boot-audit.js'),
};

const audit: FactoryProvider<() => void> = {
  provide: AUDIT,
  useFactory: async (modules: ModulesContainer, config: ApplicationConfig, set: SessionAuthSettings) => {
    const part = set.audit === 'off' ? undefined : await AUDIT_PART.load?.();
    return () => part?.auditApplication(modules, config, set);
  },
  inject: [ModulesContainer, ApplicationConfig, SETTINGS],
};

const policies: FactoryProvider<ApplicationPolicies> = {
  provide: ApplicationPolicies,
  useFactory: (modules: ModulesContainer) => ApplicationPolicies.of(modules),
  inject: [ModulesContainer],
};

function guardPartsOf(
  checks: SessionVerifier<UserRecord>,
  set: SessionAuthSettings,
  policies: ApplicationPolicies,
  source: EventSource,
  log: WarningLog,
  authorities?: Authorities,
): GuardParts {
  const { authority, token: sources, forwardAuthIv, impersonatorField, http, timeoutMs, whileOpen } = set;
  const decisions = new Decisions(source.decisions, { authority, impersonatorField });
  const reader = new SessionReader({ sources, forwardAuthIv, maxTokenLength: http.maxTokenLength });
  const ruleFailed: GuardParts['ruleFailed'] = (rule, context) => log.ruleFailed(rule, context);
  const rules = new AccessRules(policies);
  const shared = {
    rules,
    reader,
    verifier: checks,
    authority,
    authorities,
    decisions,
    ends: sessionEnds(source, checks),
    whileOpen,
    replyOpened,
  };
  return {
    ...shared,
    warn: (kind, text, subject) => log.warn(kind, text, subject),
    ruleTimeoutMs: timeoutMs,
    ruleFailed,
  };
}

/**
 * Returns the provider of the guard's parts. `table` has the token of the other registrations, if the guard
 * selects them.
 */
export function guardPartsWith(table: [InjectionToken?] = []): FactoryProvider<GuardParts> {
  const inject = [
    SessionVerifier,
    SETTINGS,
    ApplicationPolicies,
    EventSource,
    WarningLog,
    ...(table as [InjectionToken]),
  ];
  return { provide: GUARD_PARTS, useFactory: guardPartsOf, inject };
}

/**
 * Returns the providers that each registration has, with or without a name: those of options, client,
 * verifier and audit.
 */
export function authorityProviders(name: string): Provider[] {
  const tokens = tokensOf(name);
  return [
    ...SETTINGS_PROVIDERS,
    ...clientProviders(tokens),
    EventSource,
    eventsAs(tokens.events),
    verifierProvider(tokens.client),
    serviceAs(tokens.service, tokens.client),
    policies,
    audit,
  ];
}

/**
 * Returns the providers and the exports of a registration with a name. None of their tokens is a class that
 * the registration without a name provides: Nest would give each module the provider of one of the two, by
 * the order of imports.
 */
export function namedRegistration(name: string): Required<Pick<DynamicModule, 'providers' | 'exports'>> {
  const { service, events, http } = tokensOf(name);
  const providers: Provider[] = [...NAMED_REGISTRATION_CHECKS, ...authorityProviders(name), guardPartsWith()];
  return { providers, exports: [service, events, http] };
}
