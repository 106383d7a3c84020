import { describe, expect, it } from '@jest/globals';
import {
  All,
  Controller,
  Get,
  Post,
  SetMetadata,
  UseGuards,
  UseInterceptors,
  type Type,
} from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { ResolveField } from '@nestjs/graphql';
import { CclScope, OptionalAuth, Public, Roles, SubRoles } from '../guard/access.decorators.js';
import { AuthToken, CurrentUser } from '../guard/current-user.decorator.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { handlersIn } from '../guard/handlers.js';
import { type AuditContext, auditContextOf } from './audit-context.js';
import { findingsOf } from './findings.js';
import { BEYOND_ROUTES } from './beyond-routes.js';

const CONTEXT: AuditContext = {
  ...auditContextOf(new ModulesContainer(), new ApplicationConfig(), BEYOND_ROUTES),
  fieldsAreGuarded: false,
  rootFields: [{ type: 'Query', name: 'openings', reaches: new Set(['Opening']) }],
};

const findings = (owner: Type, context: Partial<AuditContext> = {}): string[] =>
  findingsOf({ ...CONTEXT, handlers: handlersIn(owner), ...context }).map(({ text }) => text);

/** A class whose handler has these decorators, the last one on top. */
function handlerWith(...decorators: MethodDecorator[]): Type {
  @Controller()
  class Handlers {
    handle(): string {
      return 'handled';
    }
  }
  const { prototype } = Handlers;
  const own = Object.getOwnPropertyDescriptor(prototype, 'handle');
  const replaced = Reflect.decorate(decorators.reverse(), prototype, 'handle', own);
  Object.defineProperty(prototype, 'handle', replaced);
  return Handlers;
}

/** Replaces the method, and keeps those of its metadata whose keys have this text. */
function replacing(kept: string): MethodDecorator {
  return (<Method>(_target: object, _name: string | symbol, descriptor: TypedPropertyDescriptor<Method>) => {
    const method = descriptor.value as object;
    const value = (): string => 'replaced';
    for (const key of Reflect.getMetadataKeys(method) as string[])
      if (key.includes(kept)) Reflect.defineMetadata(key, Reflect.getMetadata(key, method), value);
    return { ...descriptor, value };
  }) as MethodDecorator;
}

describe('the audit finds a handler', () => {
  it.each<[string, MethodDecorator[], RegExp]>([
    ['public, and ruled', [Public(), Roles('admin')], / has @Public\(\), which has no effect next to /],
    ['optional, and ruled', [OptionalAuth(), Roles('admin')], / has @OptionalAuth\(\), which has no effect /],
    [
      'public, and guarded',
      [Public(), UseGuards(SessionAuthGuard)],
      / has SessionAuthGuard beside @Public\(\)/,
    ],
  ])('that is %s', (_what, decorators, finding) => {
    expect(findings(handlerWith(...decorators, Get()))).toEqual([expect.stringMatching(finding)]);
    expect(findings(handlerWith(...decorators, Get()))[0]).toMatch(/^Handlers\.handle has /);
  });

  it.each<[string, MethodDecorator[]]>([
    ['public', [Public()]],
    ['ruled', [Roles('admin'), SubRoles('lead')]],
  ])('but not one that is %s', (_what, decorators) => {
    expect(findings(handlerWith(...decorators, Get()))).toEqual([]);
  });
});

it('finds a class that is public, with the guard beside it, for its handlers without an opening', () => {
  @Controller()
  @Public()
  @UseGuards(SessionAuthGuard)
  class Handlers {
    @Get() list(): string {
      return 'listed';
    }
    @Get('open') @Public() open(): string {
      return 'open';
    }
    @Get('ruled') @Roles('admin') ruled(): string {
      return 'ruled';
    }
  }
  expect(findings(Handlers)).toEqual([
    expect.stringMatching(/^Handlers\.list has SessionAuthGuard beside @Public\(\), /),
  ]);
});

describe('the audit finds a method that replaces a ruled one', () => {
  const LOST = [
    expect.stringMatching(
      /^Handlers\.handle has lost its rule: a decorator above the rule replaces the method/,
    ),
  ];

  it.each<[string, MethodDecorator[], string, unknown]>([
    ['a requirement', [Roles('admin')], 'guards', LOST],
    ['one of two requirements', [Roles('admin'), CclScope({ client_id: 'id' })], 'roles', LOST],
    ['an opening', [OptionalAuth()], 'guards', LOST],
    ['nothing', [Roles('admin'), OptionalAuth()], '', [expect.stringMatching(/has @OptionalAuth\(\)/)]],
  ])('and loses %s', (_what, decorators, kept, expected) => {
    expect(findings(handlerWith(...decorators, replacing(kept), Get()))).toEqual(expected);
  });

  it('in a class that others extend, or that a class overrides without a rule', () => {
    const base = handlerWith(Roles('admin'), replacing('none'), Get());
    class Derived extends base {}
    class Further extends Derived {}
    class Overriding extends base {
      @Get()
      handle(): string {
        return 'overridden';
      }
    }
    expect(findings(Further)).toEqual([expect.stringMatching(/^Further\.handle has lost its rule/)]);
    expect(findings(Overriding)).toEqual([
      expect.stringMatching(/^Overriding\.handle overrides Handlers\.handle without its rule/),
    ]);
  });
});

/** The decorators that are always undefined, of a method with these decorators. */
function undefinedIn(...decorators: MethodDecorator[]): (string | undefined)[] {
  return findings(handlerWith(...decorators))
    .map((text) => /^Handlers\.handle has (\S+), which is always undefined: no guard checks/.exec(text)?.[1])
    .filter((found) => found !== undefined);
}

class ThrottlerGuard {
  canActivate = (): boolean => true;
}
class OwnThrottlerGuard extends ThrottlerGuard {}
class GuardOfTheApplication {
  canActivate = (): boolean => true;
}

describe('the audit finds a parameter with the user or the token', () => {
  const at =
    (decorate: ParameterDecorator, index = 0): MethodDecorator =>
    (target, name) =>
      decorate(target, name, index);
  const [user, guard] = [at(CurrentUser()), UseGuards(SessionAuthGuard)];

  it.each<[string, MethodDecorator[], string[]]>([
    ['without a guard', [Get()], ['@CurrentUser()']],
    [
      'without a guard, each once',
      [Get(), at(CurrentUser('role'), 1), at(AuthToken(), 2)],
      ['@AuthToken()', '@CurrentUser()'],
    ],
    ['behind a guard that sets no user', [Get(), UseGuards(OwnThrottlerGuard)], ['@CurrentUser()']],
    ['behind an instance of it', [Get(), UseGuards(new ThrottlerGuard())], ['@CurrentUser()']],
    ['of a public handler', [Get(), Public(), guard], ['@CurrentUser()']],
    ['of a field, which has that of its root field', [ResolveField()], []],
    [
      'behind a guard of the application, which may set the user',
      [Get(), UseGuards(GuardOfTheApplication)],
      [],
    ],
    ['behind such a guard, and public', [Get(), Public(), UseGuards(GuardOfTheApplication)], []],
    ['behind the guard', [Get(), guard], []],
    ['with a rule', [Get(), Roles('boss')], []],
    ['with an optional session', [Get(), OptionalAuth()], []],
  ])('or not: %s', (_where, decorators, expected) => {
    expect(undefinedIn(user, ...decorators).sort()).toEqual(expected);
  });
});

class CacheInterceptor {
  intercept(): never {
    throw new Error('Nothing calls it here');
  }
}
class NamedCacheInterceptor extends CacheInterceptor {}
class CacheForEachUser extends CacheInterceptor {}
Object.assign(CacheForEachUser.prototype, { trackBy: () => 'user and url' });
class CacheOfSomeCalls extends CacheInterceptor {
  isRequestCacheable(): boolean {
    return false;
  }
}

describe('the audit finds a guarded route that is cached for all users', () => {
  const [guard, cached] = [UseGuards(SessionAuthGuard), UseInterceptors(CacheInterceptor)];
  const key = (value: unknown): MethodDecorator => SetMetadata('cache_module:cache_key', value);
  const FOUND = [
    'Handlers.handle is cached for all users at once: the key of CacheInterceptor is the URL, or the text of @CacheKey(). Remove it, override trackBy() so that the key names the user, or give @CacheKey() a function.',
  ];

  it.each<[string, MethodDecorator[], unknown[]]>([
    ['of GET', [guard, cached, Get()], FOUND],
    ['of every method', [guard, cached, All()], FOUND],
    ['by an instance', [guard, UseInterceptors(new CacheInterceptor()), Get()], FOUND],
    ['by a subclass', [guard, UseInterceptors(NamedCacheInterceptor), Get()], FOUND],
    ['of POST, with one key', [guard, cached, key('constant'), Post()], FOUND],
    ['of POST', [guard, cached, Post()], []],
    ['with a key for each user', [guard, cached, key(() => 'user and url'), Get()], []],
    ['by a subclass with such a key', [guard, UseInterceptors(CacheForEachUser), Get()], []],
    ['by a subclass that chooses', [guard, UseInterceptors(CacheOfSomeCalls), Get()], []],
    ['public', [Public(), cached, Get()], []],
    ['unguarded', [cached, Get()], []],
  ])('or not: %s', (_how, decorators, expected) => {
    expect(findings(handlerWith(...decorators))).toEqual(expected);
  });

  it('by an interceptor of its class, or of the application [P23]', () => {
    const ofClass = handlerWith(guard, Get());
    cached(ofClass);
    expect(findings(ofClass)).toEqual(FOUND);
    const interceptors = [new CacheInterceptor()];
    expect(findings(handlerWith(guard, Get()), { interceptors })).toEqual(FOUND);
  });
});
