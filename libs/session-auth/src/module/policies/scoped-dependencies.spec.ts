import { describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Module, Scope, type Provider } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { isScoped } from './policy-providers.js';

const TOKEN = Symbol('token');

@Injectable()
class Policy {
  constructor(@Inject(TOKEN) readonly value: unknown) {}
  allows(): boolean {
    return true;
  }
}

const scoped: Provider[] = [{ provide: TOKEN, scope: Scope.REQUEST, useFactory: () => 1 }];
const aliased: Provider[] = [
  { provide: TOKEN, useExisting: 'scoped' },
  { provide: 'scoped', scope: Scope.REQUEST, useFactory: () => 1 },
];
const single: Provider[] = [{ provide: TOKEN, useValue: 1 }];

async function isScopedIn(own: Provider[], other: Provider[], otherFirst: boolean): Promise<boolean> {
  @Module({ providers: own })
  class Home {}
  @Module({ providers: other })
  class Other {}
  @Module({ imports: otherFirst ? [Other, Home] : [Home, Other] })
  class Root {}
  const app = await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false });
  const home = [...app.get(ModulesContainer).values()].find(({ metatype }) => metatype === Home);
  if (!home) throw new Error('no home');
  return isScoped(Policy, home);
}

describe('a dependency of a policy', () => {
  it.each([
    ['before', true],
    ['after', false],
  ])('is that of its module, and not that of a module which is imported %s it', async (_when, otherFirst) => {
    expect(await isScopedIn(scoped, single, otherFirst)).toBe(true);
    expect(await isScopedIn(single, scoped, otherFirst)).toBe(false);
  });

  it('has the scope of the provider that it is another name of', async () => {
    expect(await isScopedIn(aliased, single, true)).toBe(true);
  });

  it('that only another module has is not scoped, because Nest does not find it', async () => {
    expect(await isScopedIn([], scoped, true)).toBe(false);
  });
});
