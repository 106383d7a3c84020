import { afterEach, describe, expect, it } from '@jest/globals';
import { Global, Inject, Injectable, Module, Scope, type Provider, type Type } from '@nestjs/common';
import { ContextIdFactory, ModulesContainer, NestFactory, REQUEST } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { MessagePattern } from '@nestjs/microservices';
import { InvalidConfigurationError } from '../contract/errors.js';
import { Authorize } from '../guard/access.decorators.js';
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

const ANN = { username: 'ann' };
const BOB = { username: 'bob' };
const callOf = (request: object): ExecutionContextHost => new ExecutionContextHost([request]);

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

const policiesOf = async (root: Type): Promise<FindPolicy> => found(await modulesOf(root));
const found = (modules: ModulesContainer): Promise<FindPolicy> =>
  policiesIn(modules, placedHandlersOf(modules));

const answers = (find: FindPolicy, owner: Type): unknown[] =>
  [ANN, BOB].map((user) => find(owner, OwnsOpening)?.(user, callOf({})));

const owning = (owner: string): Provider => ({ provide: Openings, useValue: { owner } });
const allowing = (isAllowed: boolean): Provider => ({
  provide: OwnsOpening,
  useValue: { allows: () => isAllowed },
});

describe('a policy', () => {
  it('that is no provider is created once in its module, with the dependencies of the module', async () => {
    const [first, second] = [ruledBy(OwnsOpening), ruledBy(OwnsOpening)];
    OwnsOpening.created = 0;
    const policies = await policiesOf(moduleOf([first, second, owning('bob')]));
    expect([first, second].map((owner) => answers(policies, owner))).toEqual([
      [false, true],
      [false, true],
    ]);
    expect(OwnsOpening.created).toBe(1);
  });

  it('that is no provider is created in each module that has a controller with it', async () => {
    const [first, second] = [ruledBy(OwnsOpening), ruledBy(OwnsOpening)];
    const policies = await policiesOf(moduleOf([second, owning('bob')], [moduleOf([first, owning('ann')])]));
    expect(answers(policies, first)).toEqual([true, false]);
    expect(answers(policies, second)).toEqual([false, true]);
  });

  it('that the module of the controller provides is asked, and not one that it imports', async () => {
    const owner = ruledBy(OwnsOpening);
    const exporting = moduleOf([allowing(true)], [], [OwnsOpening]);
    const policies = await policiesOf(moduleOf([owner, allowing(false)], [exporting]));
    expect(answers(policies, owner)).toEqual([false, false]);
  });

  it('of a controller in two modules that share a provider of it is that provider', async () => {
    const owner = ruledBy(OwnsOpening);
    const exporting = moduleOf([OwnsOpening, Openings], [], [OwnsOpening]);
    const root = moduleOf([owner], [exporting, moduleOf([owner], [exporting])]);
    expect(answers(await policiesOf(root), owner)).toEqual([true, false]);
  });

  it('is found once, for all authorities of the application', async () => {
    const modules = await modulesOf(moduleOf([ruledBy(OwnsOpening), Openings]));
    expect(await found(modules)).toBe(await found(modules));
    expect(await found(await modulesOf(moduleOf([])))).not.toBe(await found(modules));
  });
});

/** Records which instance is asked. */
abstract class Recording implements AuthorizationPolicy {
  static readonly asked: Recording[] = [];
  allows(): boolean {
    Recording.asked.push(this);
    return true;
  }
}
@Injectable({ scope: Scope.TRANSIENT })
class Transient extends Recording {}
@Injectable({ scope: Scope.REQUEST, durable: true })
class PerTenant extends Recording {
  constructor(@Inject(REQUEST) readonly tenant: unknown) {
    super();
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
  afterEach(() => {
    Recording.asked.splice(0);
    ContextIdFactory.apply(undefined as never);
  });

  it('transient is resolved for each call', async () => {
    const owner = ruledBy(Transient);
    const ask = (await policiesOf(moduleOf([owner, Transient])))(owner, Transient);
    expect([await ask?.(ANN, callOf({})), await ask?.(ANN, callOf({}))]).toEqual([true, true]);
    const [first, second] = Recording.asked;
    expect([first, second]).toEqual([expect.any(Transient), expect.any(Transient)]);
    expect(second).not.toBe(first);
  });

  it('durable gets the payload of its tenant, and not the request', async () => {
    const payload = { tenant: 'acme' };
    ContextIdFactory.apply({ attach: (contextId) => ({ resolve: () => contextId, payload }) });
    const owner = ruledBy(PerTenant);
    await (await policiesOf(moduleOf([owner, PerTenant])))(owner, PerTenant)?.(ANN, callOf({ url: '/' }));
    expect(Recording.asked).toEqual([expect.objectContaining({ tenant: payload })]);
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

class Strange implements AuthorizationPolicy {
  constructor() {
    // eslint-disable-next-line @typescript-eslint/only-throw-error
    throw 'no error';
  }
  allows(): boolean {
    return true;
  }
}
class Unusual {
  readonly allows = true;
}

it.each<[string, Type, Provider[], string]>([
  ['whose constructor throws no error', Strange, [], "can't be created in AnyModule. Its constructor threw."],
  ['whose allows is no method', Unusual, [], 'has no method allows(user, context).'],
  ...[undefined, null, {}].map((useValue): [string, Type, Provider[], string] => [
    `that is provided as ${JSON.stringify(useValue)}`,
    Strange,
    [{ provide: Strange, useFactory: () => useValue }],
    'has no method allows(user, context).',
  ]),
])('a policy %s stops the application', async (_what, policy, providers, problem) => {
  const finding = policiesOf(moduleOf([ruledBy(policy), ...providers]));
  await expect(finding).rejects.toThrow(InvalidConfigurationError);
  await expect(finding).rejects.toThrow(`@Authorize(${policy.name}) of Ruled.handle: the policy ${problem}`);
});
