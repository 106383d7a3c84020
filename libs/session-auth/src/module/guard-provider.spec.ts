import { describe, expect, it } from '@jest/globals';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { AccessRules } from '../guard/access-metadata.js';
import { Public } from '../guard/access.decorators.js';
import { GUARD_PARTS } from '../guard/guard-parts.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { GUARD_PROVIDERS } from './providers.js';

class Handlers {
  @Public()
  open(): string {
    return 'open';
  }
}

const CONTEXT = {
  getClass: () => Handlers,
  getHandler: () => Reflect.get(Handlers.prototype, 'open'),
} as unknown as ExecutionContext;

class Refusing implements CanActivate {
  readonly asked: unknown[] = [];
  canActivate(context: ExecutionContext): boolean {
    this.asked.push(context);
    return false;
  }
}

/** The guard as an application registers it. */
const GLOBAL = Symbol('global guard');

async function guardIn(
  replace: (builder: TestingModuleBuilder) => TestingModuleBuilder,
): Promise<SessionAuthGuard> {
  const parts = { provide: GUARD_PARTS, useValue: { rules: new AccessRules() } };
  const builder = Test.createTestingModule({
    providers: [...GUARD_PROVIDERS, parts, { provide: GLOBAL, useExisting: SessionAuthGuard }],
  });
  return (await replace(builder).compile()).get<SessionAuthGuard>(GLOBAL);
}

describe('the guard of the whole application', () => {
  it('is the session guard, with the parts of the module', async () => {
    const guard = await guardIn((builder) => builder);
    expect(guard.constructor).toBe(SessionAuthGuard);
    expect(guard.canActivate(CONTEXT)).toBe(true);
  });

  it.each<[string, (builder: TestingModuleBuilder, refusing: Refusing) => TestingModuleBuilder]>([
    ['a value', (builder, refusing) => builder.overrideGuard(SessionAuthGuard).useValue(refusing)],
    [
      'a factory',
      (builder, refusing) => builder.overrideGuard(SessionAuthGuard).useFactory({ factory: () => refusing }),
    ],
  ])(
    'calls %s that overrideGuard() of a test has put in place of the session guard',
    async (_what, replace) => {
      const refusing = new Refusing();
      const guard = await guardIn((builder) => replace(builder, refusing));
      expect(guard).toBeInstanceOf(SessionAuthGuard);
      expect([guard.canActivate(CONTEXT), refusing.asked]).toEqual([false, [CONTEXT]]);
    },
  );

  it('calls an instance of a class that overrideGuard() of a test has put in place of the session guard', async () => {
    const guard = await guardIn((builder) => builder.overrideGuard(SessionAuthGuard).useClass(Refusing));
    expect(guard.canActivate(CONTEXT)).toBe(false);
  });
});
