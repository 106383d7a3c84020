import { describe, expect, it } from '@jest/globals';
import { Controller, Inject, Injectable, Module, Optional, UseGuards, type CanActivate, type Type } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { InjectionCheck } from './injection-check.js';

/** An object that works only in some applications. */
@Injectable()
class Current {}

@Injectable()
class ByConstructor {
  constructor(
    @Optional() @Inject('absent') readonly absent: unknown,
    readonly current: Current,
  ) {}
}

@Injectable()
class ByProperty {
  @Inject(Current) readonly current!: Current;
}

@Controller()
class InController {
  constructor(readonly current: Current) {}
}

@Injectable()
class OfInjectable implements CanActivate {
  constructor(readonly current: Current) {}

  canActivate(): boolean {
    return true;
  }
}

@Controller()
@UseGuards(OfInjectable)
class Guarded {}

@Injectable()
class Innocent {
  constructor(@Optional() @Inject('absent') readonly absent: unknown) {}
}

@Module({})
class Root {}

/** Starts an application in which the object must not be injected. */
async function start(controllers: Type[], providers: Type[], unusable: (current: Current) => readonly object[]): Promise<void> {
  const check = {
    provide: InjectionCheck,
    useFactory: (modules: ModulesContainer, current: Current) => new InjectionCheck(modules, unusable(current)),
    inject: [ModulesContainer, Current],
  };
  const root = { module: Root, controllers, providers: [Innocent, Current, check, ...providers] };
  const context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  await context.close();
}

describe('an object that does not work without asyncContext', () => {
  it.each<[string, Type[], Type[], string]>([
    ['by the constructor of a provider', [], [ByConstructor], 'ByConstructor'],
    ['by a property of a provider', [], [ByProperty], 'ByProperty'],
    ['by a controller', [InController], [], 'InController'],
    ['by a guard that a controller names', [Guarded], [], 'OfInjectable'],
  ])('stops the start if it is injected %s', async (_where, controllers, providers, name) => {
    const error: unknown = await start(controllers, providers, (current) => [current]).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect((error as Error).message).toBe(
      `${name} injects Current, which needs asyncContext. Set asyncContext: true in the options of SessionAuthModule.`,
    );
  });

  it('may exist where nothing injects it, beside the check itself', async () => {
    await expect(start([], [], (current) => [current])).resolves.toBeUndefined();
  });

  it('may be injected by another such object', async () => {
    const holder = new ByProperty();
    const root = {
      module: Root,
      providers: [
        Current,
        { provide: ByProperty, useFactory: (current: Current) => Object.assign(holder, { current }), inject: [Current] },
        {
          provide: InjectionCheck,
          useFactory: (modules: ModulesContainer, current: Current) => new InjectionCheck(modules, [current, holder]),
          inject: [ModulesContainer, Current, ByProperty],
        },
      ],
    };
    const context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    expect(context.get(ByProperty)).toBe(holder);
    await context.close();
  });

  it('may be injected if it works', async () => {
    await expect(start([InController, Guarded], [ByConstructor, ByProperty], () => [])).resolves.toBeUndefined();
  });
});
