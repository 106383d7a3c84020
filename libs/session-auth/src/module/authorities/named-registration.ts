import type { DynamicModule, FactoryProvider, Provider } from '@nestjs/common';
import { GUARD_PARTS, type GuardParts } from '../../guard/guard-parts.js';
import { SessionVerifier } from '../../verifier/session-verifier.js';
import { authorityProviders, guardPartsOf, socketsAs } from '../authority-providers.js';
import { tokensOf } from './authority-tokens.js';
import { EventSource } from '../events/event-source.js';
import { ApplicationPolicies } from '../policies/application-policies.js';
import { NAMED_REGISTRATION_CHECKS } from './registration-checks.js';
import { SETTINGS } from '../settings/settings-providers.js';

const guardParts: FactoryProvider<GuardParts> = {
  provide: GUARD_PARTS,
  useFactory: (...[checks, set, policies, source]: Parameters<typeof guardPartsOf>) => guardPartsOf(checks, set, policies, source),
  inject: [SessionVerifier, SETTINGS, ApplicationPolicies, EventSource],
};

/**
 * Returns the providers and the exports of a registration with a name. Nothing of it has the classes of the registration without a name as its token:
 * Nest would give a module one of both, by the order of imports.
 */
export function namedRegistration(name: string): Required<Pick<DynamicModule, 'providers' | 'exports'>> {
  const { service, events, sockets, http } = tokensOf(name);
  const providers: Provider[] = [...NAMED_REGISTRATION_CHECKS, ...authorityProviders(name), guardParts, socketsAs(sockets)];
  return { providers, exports: [service, events, sockets, http] };
}
