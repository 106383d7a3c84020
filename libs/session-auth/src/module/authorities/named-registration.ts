import type { DynamicModule, Provider } from '@nestjs/common';
import { authorityProviders, guardPartsWith, socketsAs } from '../authority-providers.js';
import { tokensOf } from './authority-tokens.js';
import { NAMED_REGISTRATION_CHECKS } from './registration-checks.js';

/**
 * Returns the providers and the exports of a registration with a name. None of their tokens is a class that the registration without a name provides:
 * Nest would give each module the provider of one of the two, by the order of imports.
 */
export function namedRegistration(name: string): Required<Pick<DynamicModule, 'providers' | 'exports'>> {
  const { service, events, sockets, http } = tokensOf(name);
  const providers: Provider[] = [...NAMED_REGISTRATION_CHECKS, ...authorityProviders(name), guardPartsWith(), socketsAs(sockets)];
  return { providers, exports: [service, events, sockets, http] };
}
