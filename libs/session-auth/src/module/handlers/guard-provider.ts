import 'reflect-metadata';
import { type CanActivate, type FactoryProvider, Injectable, type Provider, UseGuards } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { GUARD_PARTS, type GuardParts } from '../../guard/guard-parts.js';
import { SessionAuthGuard } from '../../guard/session-auth.guard.js';

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

/** The guard, and the class that lets a test replace it. */
export const GUARD_PROVIDERS: Provider[] = [GuardedHost, guard];
