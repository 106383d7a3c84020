import { afterEach, describe, expect, it } from '@jest/globals';
import { Global, Inject, Injectable, Module, Scope, type Provider, type Type } from '@nestjs/common';
import { ContextIdFactory, ModulesContainer, NestFactory, REQUEST } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { MessagePattern } from '@nestjs/microservices';
import { InvalidConfigurationError } from '../contract/errors.js';
import { Authorize } from '../guard/access.decorators.js';
import type { AuthorizationPolicy } from '../guard/access.decorators.js';
import { GUARD_REGISTRATION } from '../guard/guard-registration.js';
import type { FindPolicy } from '../guard/access-rules.js';
import { placedHandlersOf } from '../guard/handlers.js';
import { policiesIn } from './policies.js';

/**
 * Has the parts of the guards that {@link Authorize} applies. Nest creates these guards, and nothing calls
 * them here.
 */
@Global()
@Module({ providers: [{ provide: GUARD_REGISTRATION, useValue: {} }], exports: [GUARD_REGISTRATION] })
class PartsModule {}

const ANN = { username: 'ann' };
const BOB = { username: 'bob' };
const callOf = (request: object): ExecutionContextHost => new ExecutionContextHost([request]);

@Injectable()
class Openings {
  readonly owner: string = 'ann';
}

@Injectable()
class OwnsOpening implements AuthorizationPolicy {
  constructor(private readonly openings: Openings) {}
  allows(user: object): boolean {
    return (user as { readonly username: string }).username === this.openings.owner;
  }
}

/** A class whose one handler has the policy. */
function ruledBy(policy: unknown): Type {
  class Ruled {
    @MessagePattern('ruled')
    @Authorize(policy as Type<AuthorizationPolicy>)
    handle(): string {
      return 'handled';
    }
  }
  return Ruled;
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

async function policiesOf(root: Type): Promise<FindPolicy> {
  const modules = await modulesOf(root);
  return policiesIn(modules, placedHandlersOf(modules));
}

const answers = (find: FindPolicy, owner: Type): unknown[] =>
  [ANN, BOB].map((user) => find(owner, OwnsOpening)?.(user, callOf({})));

const allowing = (isAllowed: boolean): Provider => ({
  provide: OwnsOpening,
  useValue: { allows: () => isAllowed },
});

const PROVIDED = [OwnsOpening, Openings];

describe('the provider of a policy is that', () => {
  it('of the module of the controller, and not one that it imports', async () => {
    const owner = ruledBy(OwnsOpening);
    const exporting = moduleOf([allowing(true)], [], [OwnsOpening]);
    const policies = await policiesOf(moduleOf([owner, ...PROVIDED], [exporting]));
    expect(answers(policies, owner)).toEqual([true, false]);
  });

  it('of each module that has controllers with it', async () => {
    const [first, second] = [ruledBy(OwnsOpening), ruledBy(OwnsOpening)];
    const other = moduleOf([first, OwnsOpening, { provide: Openings, useValue: { owner: 'bob' } }]);
    const policies = await policiesOf(moduleOf([second, ...PROVIDED], [other]));
    expect([first, second].map((owner) => answers(policies, owner))).toEqual([
      [false, true],
      [true, false],
    ]);
  });

  it('that a module exports which the module of the controller imports, before any other', async () => {
    const owner = ruledBy(OwnsOpening);
    const exporting = moduleOf(PROVIDED, [], [OwnsOpening]);
    const others = [moduleOf([allowing(false)]), moduleOf([allowing(false)], [], [OwnsOpening])];
    for (const imports of [others, others.toReversed()]) {
      const keeping = moduleOf([allowing(false)]);
      const root = moduleOf([], [moduleOf([owner], [exporting, keeping]), ...imports]);
      expect(answers(await policiesOf(root), owner)).toEqual([true, false]);
    }
  });

  it('of a global module, before any other', async () => {
    @Global()
    @Module({ providers: PROVIDED, exports: [OwnsOpening] })
    class PoliciesModule {}
    const owner = ruledBy(OwnsOpening);
    const root = moduleOf([owner], [moduleOf([allowing(false)]), PoliciesModule]);
    expect(answers(await policiesOf(root), owner)).toEqual([true, false]);
  });

  it('that two modules with the same controller share', async () => {
    const owner = ruledBy(OwnsOpening);
    const exporting = moduleOf(PROVIDED, [], [OwnsOpening]);
    const root = moduleOf([owner], [exporting, moduleOf([owner], [exporting])]);
    expect(answers(await policiesOf(root), owner)).toEqual([true, false]);
  });
});

@Injectable({ scope: Scope.REQUEST, durable: true })
class PerTenant implements AuthorizationPolicy {
  constructor(@Inject(REQUEST) private readonly payload: { readonly tenant?: string }) {}
  allows(): boolean {
    return this.payload.tenant === 'acme';
  }
}

const PLACE = Symbol('place');
@Injectable({ scope: Scope.REQUEST })
class InPlace implements AuthorizationPolicy {
  constructor(@Inject(PLACE) readonly place: string) {}
  allows(): boolean {
    return this.place === 'open';
  }
}

describe('a policy that is a provider and', () => {
  afterEach(() => ContextIdFactory.apply(undefined as never));

  it('durable gets the payload of its tenant, and not the request', async () => {
    const payload = { tenant: 'acme' };
    ContextIdFactory.apply({ attach: (contextId) => ({ resolve: () => contextId, payload }) });
    const owner = ruledBy(PerTenant);
    const find = await policiesOf(moduleOf([owner, PerTenant]));
    expect(await find(owner, PerTenant)?.(ANN, callOf({ url: '/' }))).toBe(true);
  });

  it('request-scoped is that of the module of its controller', async () => {
    const [open, closed] = [ruledBy(InPlace), ruledBy(InPlace)];
    const placed = (owner: Type, place: string): Type =>
      moduleOf([owner, InPlace, { provide: PLACE, useValue: place }]);
    const modules = [placed(open, 'open'), placed(closed, 'closed')];
    for (const imports of [modules, modules.toReversed()]) {
      const policies = await policiesOf(moduleOf([], imports));
      const asked = [open, closed].map((owner) => policies(owner, InPlace)?.(ANN, callOf({})));
      expect(await Promise.all(asked)).toEqual([true, false]);
    }
  });
});

const NO_METHOD = 'the policy has no method allows(user, context).';

class Unusual implements Record<keyof AuthorizationPolicy, boolean> {
  readonly allows = true;
}

it.each<[string, Type, string]>([
  [
    'that no module provides',
    moduleOf([ruledBy(Unusual)]),
    'no module provides the policy. Add Unusual to the providers of AnyModule.',
  ],
  [
    'that two other modules provide',
    moduleOf([ruledBy(Unusual)], [moduleOf([Unusual]), moduleOf([Unusual])]),
    'the policy is ambiguous: AnyModule and AnyModule provide it. Provide it in one of them only',
  ],
  ['whose allows is no method', moduleOf([ruledBy(Unusual), Unusual]), NO_METHOD],
  [
    'that is provided as undefined',
    moduleOf([ruledBy(Unusual), { provide: Unusual, useFactory: () => undefined }]),
    NO_METHOD,
  ],
])('a policy %s stops the application', async (_what, root, problem) => {
  const finding = policiesOf(root);
  await expect(finding).rejects.toThrow(InvalidConfigurationError);
  await expect(finding).rejects.toThrow(`@Authorize(Unusual) of Ruled.handle: ${problem}`);
});

it('a policy of a controller in two modules stops the application if each has its own', async () => {
  const owner = ruledBy(OwnsOpening);
  const root = moduleOf([owner, ...PROVIDED], [moduleOf([owner, ...PROVIDED])]);
  await expect(policiesOf(root)).rejects.toThrow(/: the policy is ambiguous: AnyModule and AnyModule /);
});
