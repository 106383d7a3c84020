import { afterEach, describe, expect, it } from '@jest/globals';
import {
  Global,
  Inject,
  Injectable,
  Module,
  Scope,
  type ExecutionContext,
  type Provider,
  type Type,
} from '@nestjs/common';
import { ContextIdFactory, ModulesContainer, NestFactory, REQUEST } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { MessagePattern } from '@nestjs/microservices';
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

const USER = { username: 'ann' };
const PLACE = Symbol('place');

/** Records what it is asked, and by which instance. */
abstract class Recording implements AuthorizationPolicy {
  static readonly asked: {
    readonly policy: Recording;
    readonly user: object;
    readonly context: ExecutionContext;
  }[] = [];
  allows(user: object, context: ExecutionContext): boolean {
    Recording.asked.push({ policy: this, user, context });
    return true;
  }
}

@Injectable({ scope: Scope.REQUEST })
class PerCall extends Recording {
  constructor(@Inject(REQUEST) readonly request: unknown) {
    super();
  }
}
@Injectable({ scope: Scope.TRANSIENT })
class Transient extends Recording {}
@Injectable()
class NeedsCall extends Recording {
  constructor(readonly call: PerCall) {
    super();
  }
}
@Injectable({ scope: Scope.REQUEST, durable: true })
class PerTenant extends Recording {
  constructor(@Inject(REQUEST) readonly tenant: unknown) {
    super();
  }
}
@Injectable({ scope: Scope.REQUEST })
class InPlace extends Recording {
  constructor(@Inject(PLACE) readonly place: string) {
    super();
  }
  override allows(): boolean {
    return this.place === 'open';
  }
}

function ruledBy(policy: Type<AuthorizationPolicy>): Type {
  class Ruled {
    @MessagePattern('ruled')
    @Authorize(policy)
    handle(): string {
      return 'handled';
    }
  }
  return Ruled;
}

async function policiesOf(providers: Provider[], imports: Type[] = []): Promise<FindPolicy> {
  @Module({ imports: [PartsModule, ...imports], providers })
  class RootModule {}
  const app = await NestFactory.createApplicationContext(RootModule, { logger: false, abortOnError: false });
  const modules = app.get(ModulesContainer);
  return policiesIn(modules, placedHandlersOf(modules));
}

function callOf(request: object): ExecutionContext {
  return new ExecutionContextHost([request]);
}

describe('a policy that is a provider and', () => {
  afterEach(() => {
    Recording.asked.splice(0);
    ContextIdFactory.apply(undefined as never);
  });

  /** The instances that decide about each of these calls. */
  async function asked(
    policy: Type<Recording>,
    others: Provider[],
    ...contexts: ExecutionContext[]
  ): Promise<Recording[]> {
    const owner = ruledBy(policy);
    const ask = (await policiesOf([owner, policy, ...others]))(owner, policy);
    for (const context of contexts) expect(await ask?.(USER, context)).toBe(true);
    expect(Recording.asked.map(({ user, context }) => [user, context])).toEqual(
      contexts.map((context) => [USER, context]),
    );
    return Recording.asked.map((each) => each.policy);
  }

  it('request-scoped is resolved once for each call, and gets the call', async () => {
    const [request, other] = [{ url: '/first' }, { url: '/second' }];
    const [first, again, second] = await asked(PerCall, [], callOf(request), callOf(request), callOf(other));
    expect(again).toBe(first);
    expect([(first as PerCall).request, (second as PerCall).request]).toEqual([request, other]);
  });

  it('request-scoped by a dependency is resolved for each call', async () => {
    const [first, second] = await asked(
      NeedsCall,
      [PerCall],
      callOf({ url: '/first' }),
      callOf({ url: '/second' }),
    );
    expect([first, second].map((policy) => (policy as NeedsCall).call.request)).toEqual([
      { url: '/first' },
      { url: '/second' },
    ]);
  });

  it('transient is resolved for each call', async () => {
    const [first, second] = await asked(Transient, [], callOf({}), callOf({}));
    expect([first, second]).toEqual([expect.any(Transient), expect.any(Transient)]);
    expect(second).not.toBe(first);
  });

  it('a singleton decides about all calls', async () => {
    @Injectable()
    class Singleton extends Recording {}
    const [first, second] = await asked(Singleton, [], callOf({}), callOf({}));
    expect(second).toBe(first);
  });

  it('durable gets the payload of its tenant, and not the request', async () => {
    const payload = { tenant: 'acme' };
    ContextIdFactory.apply({ attach: (contextId) => ({ resolve: () => contextId, payload }) });
    const [policy] = await asked(PerTenant, [], callOf({ url: '/' }));
    expect((policy as PerTenant).tenant).toBe(payload);
  });

  it('request-scoped is that of the module of its controller', async () => {
    const [open, closed] = [ruledBy(InPlace), ruledBy(InPlace)];
    const placed = (place: string): Provider[] => [InPlace, { provide: PLACE, useValue: place }];
    @Module({ providers: [open, ...placed('open')] })
    class OpenModule {}
    @Module({ providers: [closed, ...placed('closed')] })
    class ClosedModule {}
    for (const imports of [
      [OpenModule, ClosedModule],
      [ClosedModule, OpenModule],
    ]) {
      const policies = await policiesOf([], imports);
      const answers = [open, closed].map((owner) => policies(owner, InPlace)?.(USER, callOf({})));
      expect(await Promise.all(answers)).toEqual([true, false]);
    }
  });
});
