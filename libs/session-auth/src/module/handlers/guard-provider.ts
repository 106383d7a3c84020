import 'reflect-metadata';
import {
  type ExecutionContext,
  type FactoryProvider,
  Injectable,
  type Provider,
  UseGuards,
} from '@nestjs/common';
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
 * Calls the guard that a test has put in place of `SessionAuthGuard`. Nest creates that one later, unless it
 * is a value.
 */
class ReplacedGuard extends SessionAuthGuard {
  constructor(
    parts: GuardParts,
    private readonly replacement: { readonly instance: unknown },
  ) {
    super(parts);
  }

  override canActivate(context: ExecutionContext): true | Promise<true> {
    return (this.replacement.instance as SessionAuthGuard).canActivate(context);
  }
}

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
    return replacement ? new ReplacedGuard(parts, replacement) : new SessionAuthGuard(parts);
  },
  inject: [GUARD_PARTS, ModulesContainer],
};

/** The guard, and the class that lets a test replace it. */
export const GUARD_PROVIDERS: Provider[] = [GuardedHost, guard];
