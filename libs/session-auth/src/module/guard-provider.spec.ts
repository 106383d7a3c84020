import { describe, expect, it } from '@jest/globals';
import { type CanActivate, type ExecutionContext, Injectable, Module } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer, NestFactory } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { SubscribeMessage } from '@nestjs/websockets';
import { AccessRules } from '../guard/access-rules.js';
import { Public } from '../guard/access.decorators.js';
import { ApplicationGuardsProxy } from '../kinds/application-guards.js';
import { enhancersOf } from '../guard/enhancers.js';
import { GUARD_PARTS } from '../guard/guard-parts.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { GUARD_PROVIDERS } from './providers.js';
import { SessionAuthModule } from './session-auth.module.js';

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

@Module({})
class Root {}

/** A session guard that denies. */
function denyingGuard(): SessionAuthGuard {
  const guard = Object.create(SessionAuthGuard.prototype) as { canActivate: () => boolean };
  guard.canActivate = () => false;
  return guard as unknown as SessionAuthGuard;
}

describe('the global guards of an application', () => {
  it.each([
    ['messages', MessagePattern],
    ['gateways', SubscribeMessage],
  ])('are applied to handlers of %s', async (_kind, handler: (name: string) => MethodDecorator) => {
    @Injectable()
    class Served {
      @handler('list') list(): string {
        return 'list';
      }
    }
    const session = SessionAuthModule.forRoot({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key' });
    const root = { module: Root, imports: [session], providers: [Served] };
    const context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    const method = Reflect.get(Served.prototype, 'list');
    expect(enhancersOf(method, 'guard')).toEqual([ApplicationGuardsProxy]);
    const proxy = new ApplicationGuardsProxy(context.get(ModulesContainer));
    context.get(ApplicationConfig).useGlobalGuards(denyingGuard());
    expect(proxy.canActivate({} as never)).toBe(false);
    await context.close();
  });
});
