import { describe, expect, it } from '@jest/globals';
import { Global, Injectable, Module, type ExecutionContext, type Provider, type Type } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { Authorize, Public, Roles } from '../guard/access.decorators.js';
import type { AuthorizationPolicy } from '../guard/access.decorators.js';
import { GUARD_PARTS } from '../guard/guard-parts.js';
import type { FindPolicy } from '../guard/access-rules.js';
import { placedHandlersOf } from '../guard/handlers.js';
import { policiesIn } from './policies.js';

/**
 * Has the parts of the guards that {@link Authorize} applies. Nest creates these guards, and nothing calls
 * them here.
 */
@Global()
@Module({ providers: [{ provide: GUARD_PARTS, useValue: {} }], exports: [GUARD_PARTS] })
class PartsModule {}

const CONTEXT = {} as ExecutionContext;
const ANN = { username: 'ann' };
const BOB = { username: 'bob' };

@Injectable()
class Openings {
  readonly owner: string = 'ann';
}

@Injectable()
class OwnsOpening implements AuthorizationPolicy {
  static created = 0;
  constructor(private readonly openings: Openings) {
    OwnsOpening.created += 1;
  }
  allows(user: object): boolean {
    return (user as { readonly username: string }).username === this.openings.owner;
  }
}

class IsSameCall implements AuthorizationPolicy {
  allows(_user: object, context: ExecutionContext): boolean {
    return context === CONTEXT;
  }
}

/** A class with three handlers: two ask the policies, and one does not. */
function handlersOf(...policies: Type<AuthorizationPolicy>[]): Type {
  class Handlers {
    @MessagePattern('ruled')
    ruled(): string {
      return 'ruled';
    }
    @MessagePattern('again')
    again(): string {
      return 'again';
    }
    @MessagePattern('public')
    @Public()
    public(): string {
      return 'public';
    }
  }
  for (const name of ['ruled', 'again'] as const) {
    const decorators = [Roles('admin'), ...policies.map((policy) => Authorize(policy))].reverse();
    const { prototype } = Handlers;
    Reflect.decorate(decorators, prototype, name, Object.getOwnPropertyDescriptor(prototype, name));
  }
  return Handlers;
}

function moduleOf(providers: Provider[], imports: Type[] = [], exported: Type[] = []): Type {
  @Module({ imports, providers, exports: exported })
  class AnyModule {}
  return AnyModule;
}

async function modulesOf(root: Type): Promise<ModulesContainer> {
  const withParts = moduleOf([], [PartsModule, root]);
  return (await NestFactory.createApplicationContext(withParts, { logger: false, abortOnError: false })).get(
    ModulesContainer,
  );
}

const policiesOf = async (root: Type): Promise<FindPolicy> => found(await modulesOf(root));
const found = (modules: ModulesContainer): Promise<FindPolicy> =>
  policiesIn(modules, placedHandlersOf(modules));

const answers = (find: FindPolicy, owner: Type, policy: Type): unknown[] =>
  [ANN, BOB].map((user) => find(owner, policy)?.(user, CONTEXT));

const owning = (owner: string): Provider => ({ provide: Openings, useValue: { owner } });
const allowing = (isAllowed: boolean): Provider => ({
  provide: OwnsOpening,
  useValue: { allows: () => isAllowed },
});

describe('a policy', () => {
  it('that is no provider is created once in its module, with the dependencies of the module', async () => {
    const [first, second] = [handlersOf(OwnsOpening, IsSameCall), handlersOf(OwnsOpening)];
    OwnsOpening.created = 0;
    const policies = await policiesOf(moduleOf([first, second, owning('bob')]));
    expect([first, second].map((owner) => answers(policies, owner, OwnsOpening))).toEqual([
      [false, true],
      [false, true],
    ]);
    expect(answers(policies, first, IsSameCall)).toEqual([true, true]);
    expect(OwnsOpening.created).toBe(1);
  });

  it('that is no provider is created in each module that has a controller with it', async () => {
    const [first, second] = [handlersOf(OwnsOpening), handlersOf(OwnsOpening)];
    const policies = await policiesOf(moduleOf([second, owning('bob')], [moduleOf([first, owning('ann')])]));
    expect(answers(policies, first, OwnsOpening)).toEqual([true, false]);
    expect(answers(policies, second, OwnsOpening)).toEqual([false, true]);
  });

  it('that the module of the controller provides is the one that is asked', async () => {
    const owner = handlersOf(OwnsOpening);
    const exporting = moduleOf([allowing(true)], [], [OwnsOpening]);
    expect(
      answers(await policiesOf(moduleOf([owner, allowing(false)], [exporting])), owner, OwnsOpening),
    ).toEqual([false, false]);
  });

  it('that an imported module exports is the one that is asked', async () => {
    const owner = handlersOf(OwnsOpening);
    const exporting = moduleOf([allowing(false)], [], [OwnsOpening]);
    expect(
      answers(await policiesOf(moduleOf([owner, owning('ann')], [exporting])), owner, OwnsOpening),
    ).toEqual([false, false]);
  });

  it('of a controller is asked for its handlers', async () => {
    @Authorize(OwnsOpening)
    class Handlers {
      @MessagePattern('inherits')
      inherits(): string {
        return 'inherits';
      }
    }
    expect(answers(await policiesOf(moduleOf([Handlers, Openings])), Handlers, OwnsOpening)).toEqual([
      true,
      false,
    ]);
  });

  it('is not found for another controller, or for a handler that does not name it', async () => {
    const [owner, other] = [handlersOf(OwnsOpening), handlersOf()];
    const policies = await policiesOf(moduleOf([owner, other, Openings]));
    expect([policies(other, OwnsOpening), policies(owner, IsSameCall)]).toEqual([undefined, undefined]);
    expect(policies(owner, OwnsOpening)).toBeDefined();
  });

  it('of a controller in two modules that share a provider of it is that provider', async () => {
    const owner = handlersOf(OwnsOpening);
    const exporting = moduleOf([OwnsOpening, Openings], [], [OwnsOpening]);
    const root = moduleOf([owner], [exporting, moduleOf([owner], [exporting])]);
    expect(answers(await policiesOf(root), owner, OwnsOpening)).toEqual([true, false]);
  });
});

describe('the policies of an application', () => {
  it('are loaded once, for all authorities of the module', async () => {
    const modules = await modulesOf(moduleOf([handlersOf(OwnsOpening), Openings]));
    expect(await found(modules)).toBe(await found(modules));
    expect(await found(await modulesOf(moduleOf([])))).not.toBe(await found(modules));
  });
});
