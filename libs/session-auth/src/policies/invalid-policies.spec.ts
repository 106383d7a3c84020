import { describe, expect, it } from '@jest/globals';
import { Global, Injectable, Module, type Provider, type Type } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { InvalidConfigurationError } from '../contract/errors.js';
import { Authorize } from '../guard/access.decorators.js';
import type { AuthorizationPolicy } from '../guard/access.decorators.js';
import { GUARD_PARTS } from '../guard/guard-parts.js';
import { placedHandlersOf } from '../guard/handlers.js';
import { policiesIn } from './policies.js';

/**
 * Has the parts of the guards that {@link Authorize} applies. Nest creates these guards, and nothing calls
 * them here.
 */
@Global()
@Module({ providers: [{ provide: GUARD_PARTS, useValue: {} }], exports: [GUARD_PARTS] })
class PartsModule {}

abstract class Policy implements AuthorizationPolicy {
  allows(): boolean {
    return true;
  }
}
class Usable extends Policy {}
class Broken extends Policy {
  constructor() {
    super();
    throw new Error('No database.');
  }
}
class Strange extends Policy {
  constructor() {
    super();
    // eslint-disable-next-line @typescript-eslint/only-throw-error
    throw 'no error';
  }
}
class Missing {
  readonly kind = 'missing';
}
@Injectable()
class Lacking extends Policy {
  constructor(readonly missing: Missing) {
    super();
  }
}
class Permitting {
  permits(): boolean {
    return true;
  }
}
class Unusual {
  readonly allows = true;
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

/** The error of an application with these providers, and with another of them if there are any. */
async function errorOf(providers: Provider[], others: Provider[] = []): Promise<unknown> {
  @Module({ providers: others })
  class OtherModule {}
  @Module({ imports: [PartsModule, OtherModule], providers })
  class RootModule {}
  const app = await NestFactory.createApplicationContext(RootModule, { logger: false, abortOnError: false });
  const modules = app.get(ModulesContainer);
  return policiesIn(modules, placedHandlersOf(modules)).catch((error: unknown) => error);
}

describe('the bootstrap fails', () => {
  it.each<[string, Type, RegExp]>([
    ['whose constructor throws', Broken, / can't be created in RootModule\. No database\.$/],
    [
      'whose constructor throws no error',
      Strange,
      / can't be created in RootModule\. Its constructor threw\.$/,
    ],
    ['whose dependency is missing', Lacking, / can't be created in RootModule\. .*Missing/s],
    [
      'without the method allows',
      Permitting,
      / has no method allows\(user, context\)\. Add it, or give @Authorize\(\) a function\.$/,
    ],
    ['whose allows is no method', Unusual, / has no method allows\(user, context\)\./],
  ])('with a policy %s', async (_what, policy, message) => {
    const error = await errorOf([ruledBy(policy)]);
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    const { message: text } = error as Error;
    expect(text.slice(0, text.indexOf(' the policy'))).toBe(`@Authorize(${policy.name}) of Ruled.handle:`);
    expect(text).toMatch(message);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['an object without the method allows', {}],
  ])('with a policy that is provided as %s', async (_what, instance) => {
    const error = await errorOf([ruledBy(Broken), { provide: Broken, useFactory: () => instance }]);
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect((error as Error).message).toMatch(
      /^@Authorize\(Broken\) of Ruled\.handle: the policy has no method allows/,
    );
  });

  it('with a controller of two modules that each have a policy of their own', async () => {
    const ruled = ruledBy(Usable);
    const error = await errorOf([ruled], [ruled]);
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect((error as Error).message).toMatch(
      /^@Authorize\(Usable\) of Ruled\.handle: the policy is ambiguous: Ruled is in \w+ and \w+, each with its own\./,
    );
  });
});
