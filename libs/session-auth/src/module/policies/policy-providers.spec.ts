import { describe, expect, it } from '@jest/globals';
import { forwardRef, Inject, Injectable, Module, Scope, type Type } from '@nestjs/common';
import { ModuleRef, ModulesContainer, NestFactory, REQUEST } from '@nestjs/core';
import type { NestModule } from '../handlers/nest-container.js';
import { isScoped, moduleRefOf, providerModuleOf } from './policy-providers.js';

@Injectable()
class Policy {
  allows(): boolean {
    return true;
  }
}

/** Returns how Nest stores a module of an application with this root. */
async function storedModules(root: Type): Promise<(metatype: Type) => NestModule> {
  const modules = (
    await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false })
  ).get(ModulesContainer);
  return (metatype) => {
    const found = [...modules.values()].find((module) => module.metatype === metatype);
    if (!found) throw new Error(`${metatype.name} is no module of the application`);
    return found;
  };
}

@Module({ providers: [Policy], exports: [Policy] })
class ExportingModule {}
@Module({ providers: [Policy] })
class HidingModule {}
@Module({ imports: [HidingModule, ExportingModule] })
class SilentModule {}
@Module({ imports: [HidingModule, ExportingModule], exports: [ExportingModule] })
class PassingModule {}

/** Imports each of these modules, in this order, and has no provider. */
function importing(...imports: Type[]): Type {
  @Module({ imports })
  class Root {}
  return Root;
}

describe('the provider of a policy that is visible in a module', () => {
  const homeIn = async (root: Type): Promise<unknown> =>
    providerModuleOf((await storedModules(root))(root), Policy)?.metatype;

  it.each<[string, Type, Type | undefined]>([
    ['its own', HidingModule, HidingModule],
    ['one that an imported module exports', importing(SilentModule, ExportingModule), ExportingModule],
    [
      'one of a module that an imported module exports',
      importing(HidingModule, PassingModule),
      ExportingModule,
    ],
    ['none of an imported module that does not export it', importing(HidingModule), undefined],
    ['none of a module that an imported module does not export', importing(SilentModule), undefined],
    ['none where nothing is imported', importing(), undefined],
  ])('is %s', async (_which, root, home) => {
    expect(await homeIn(root)).toBe(home);
  });

  it('is none of a module that is exported and is itself the policy', async () => {
    @Module({})
    class PolicyModule {
      allows(): boolean {
        return true;
      }
    }
    @Module({ imports: [PolicyModule], exports: [PolicyModule] })
    class SharedModule {}
    const root = importing(SharedModule);
    expect(providerModuleOf((await storedModules(root))(root), PolicyModule)).toBeUndefined();
  });

  it('is found in modules that import each other', async () => {
    @Module({ imports: [forwardRef(() => SecondModule)], exports: [forwardRef(() => SecondModule)] })
    class FirstModule {}
    @Module({ imports: [FirstModule], exports: [FirstModule] })
    class SecondModule {}
    expect(await homeIn(importing(FirstModule, ExportingModule))).toBe(ExportingModule);
    expect(await homeIn(importing(FirstModule))).toBeUndefined();
  });

  it('is the one that Nest injects there, also if an imported module imports it again', async () => {
    @Module({ providers: [Policy], exports: [Policy] })
    class OtherModule {}
    @Module({
      imports: [forwardRef(() => StartModule), OtherModule],
      exports: [forwardRef(() => StartModule), OtherModule],
    })
    class CircularModule {}
    @Injectable()
    class Witness {
      constructor(readonly policy: Policy) {}
    }
    @Module({ imports: [CircularModule, ExportingModule], providers: [Witness], exports: [ExportingModule] })
    class StartModule {}
    const stored = await storedModules(StartModule);
    const start = stored(StartModule);
    const injected = moduleRefOf(start).get(Witness).policy;
    expect(providerModuleOf(start, Policy)?.providers.get(Policy)?.instance).toBe(injected);
  });
});

describe("Nest's reference of a module", () => {
  it('finds the providers of this module', async () => {
    const stored = await storedModules(importing(HidingModule, ExportingModule));
    const references = [HidingModule, ExportingModule].map((module) => moduleRefOf(stored(module)));
    expect(references).toEqual([expect.any(ModuleRef), expect.any(ModuleRef)]);
    expect(references.map((reference) => reference.get(Policy, { strict: true }))).toEqual(
      [HidingModule, ExportingModule].map((module) => stored(module).providers.get(Policy)?.instance),
    );
    expect(references[0]?.get(Policy, { strict: true })).not.toBe(
      references[1]?.get(Policy, { strict: true }),
    );
  });
});

const TOKEN = Symbol('a token');

@Injectable()
class Shared {
  readonly kind = 'shared';
}
@Injectable({ scope: Scope.REQUEST })
class PerRequest {
  readonly kind = 'per request';
}
@Injectable()
class NeedsRequest {
  constructor(@Inject(REQUEST) readonly request: unknown) {}
}
@Injectable({ scope: Scope.TRANSIENT })
class Transient {
  readonly kind = 'transient';
}
class Unknown {
  readonly kind = 'unknown';
}

@Module({
  providers: [
    Shared,
    PerRequest,
    NeedsRequest,
    Transient,
    { provide: TOKEN, scope: Scope.REQUEST, useFactory: () => 1 },
  ],
})
class Providers {}

/** A policy that injects these by its constructor. */
function injecting(...parameters: ParameterDecorator[]): Type {
  class Injecting extends Policy {}
  parameters.forEach((decorate, index) => decorate(Injecting, undefined, index));
  return Injecting;
}

/** A policy whose constructor has parameters of these types. */
function ofTypes(...types: unknown[]): Type {
  class Typed extends Policy {}
  Reflect.defineMetadata('design:paramtypes', types, Typed);
  return Typed;
}

function injectingIntoProperty(token: unknown): Type {
  class Injecting extends Policy {
    declare readonly value: unknown;
  }
  Inject(token as symbol)(Injecting.prototype, 'value');
  return Injecting;
}

describe('a policy that is no provider', () => {
  const scoped = async (policy: Type): Promise<boolean> =>
    isScoped(policy, (await storedModules(Providers))(Providers));

  it.each<[string, Type]>([
    ['is request-scoped', PerRequest],
    ['is transient', Transient],
    ['has a request-scoped parameter', ofTypes(Shared, PerRequest)],
    ['has a parameter with a request-scoped dependency', ofTypes(NeedsRequest)],
    ['injects a request-scoped token', injecting(Inject(Shared), Inject(TOKEN))],
    ['injects the request', injecting(Inject(REQUEST))],
    [
      'injects a forward reference to a request-scoped class',
      injecting(Inject(forwardRef(() => PerRequest))),
    ],
    ['injects a request-scoped token into a property', injectingIntoProperty(TOKEN)],
  ])('is scoped if it %s', async (_what, policy) => {
    expect(await scoped(policy)).toBe(true);
  });

  it.each<[string, Type]>([
    ['nothing and has no decorator', Unknown],
    ['nothing', Policy],
    ['a singleton', ofTypes(Shared)],
    ['a transient class, of which it has one instance', ofTypes(Transient)],
    ['a forward reference to a singleton', injecting(Inject(forwardRef(() => Shared)))],
    ['a singleton into a property', injectingIntoProperty(Shared)],
    ['what Nest does not know', ofTypes(Unknown)],
    ['a type that is undefined, as in a circular import', ofTypes(undefined)],
  ])('is not scoped if it injects %s', async (_what, policy) => {
    expect(await scoped(policy)).toBe(false);
  });

  it('is not scoped if a token replaces a request-scoped type', async () => {
    const policy = ofTypes(PerRequest);
    Inject(Shared)(policy, undefined, 0);
    expect(await scoped(policy)).toBe(false);
    expect(Reflect.getMetadata('design:paramtypes', policy)).toEqual([PerRequest]);
  });
});
