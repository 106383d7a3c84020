import { describe, expect, it } from '@jest/globals';
import { UseGuards, type CanActivate, type Type } from '@nestjs/common';
import { InvalidConfigurationError } from '../contract/errors.js';
import { enhancersOf, isSessionAuthGuard } from './enhancers.js';
import { SessionAuthGuard } from './session-auth.guard.js';
import { declarationOf, decoratedMethods } from './access-metadata.js';
import { Authorize, OptionalAuth, Public, Roles, SubRoles } from './access.decorators.js';

class OtherGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

function controller(...decorators: ClassDecorator[]): Type {
  class Controller {
    readonly name = 'controller';
  }
  for (const decorator of decorators) decorator(Controller);
  return Controller;
}

const textsOf = (target: object): string[] => declarationOf(target).requirements.map(({ text }) => text);

const guardsOf = (target: object): readonly unknown[] => enhancersOf(target, 'guard');

describe('an access decorator', () => {
  it.each([
    ['@OptionalAuth()', OptionalAuth()],
    ['@Authorize()', Authorize(() => true)],
  ])('%s applies the guard once, on a class and on a method', (_name, decorator) => {
    class Routes {
      find(): string {
        return 'found';
      }
    }
    const descriptor = Object.getOwnPropertyDescriptor(Routes.prototype, 'find');
    for (let times = 0; times < 2; times += 1)
      decorator(Routes.prototype, 'find', descriptor as TypedPropertyDescriptor<unknown>);
    expect(guardsOf(descriptor?.value as object)).toEqual([SessionAuthGuard]);
    expect(guardsOf(controller(decorator, decorator))).toEqual([SessionAuthGuard]);
    expect(guardsOf(Routes)).toEqual([]);
  });

  it('applies the guard beside guards of the application, unless one of them is a session guard', () => {
    class OwnGuard extends SessionAuthGuard {}
    expect(guardsOf(controller(UseGuards(OtherGuard), Roles('admin')))).toEqual([
      OtherGuard,
      SessionAuthGuard,
    ]);
    expect(guardsOf(controller(UseGuards(OtherGuard, OwnGuard), Roles('admin')))).toEqual([
      OtherGuard,
      OwnGuard,
    ]);
  });

  it.each([undefined, { get: () => 7 }, { value: 7 }])(
    'rejects a property that is not a method: %j',
    (descriptor) => {
      const decorate = (): unknown =>
        Roles('admin')({}, 'field', descriptor as TypedPropertyDescriptor<unknown>);
      expect(decorate).toThrow(InvalidConfigurationError);
      expect(decorate).toThrow(/is on field, which is not a method: .*, in GraphQL @ResolveField/);
    },
  );

  it('adds its requirement to those of the same kind', () => {
    const target = controller(...[Roles('b'), Authorize(() => true), Roles('a')]);
    expect(textsOf(target)).toEqual(['@Roles(b)', '@Roles(a)', '@Authorize(function)']);
  });
});

describe('the guard of this package', () => {
  it('is recognized as a class, as an instance, as a descendant and as the guard of another copy', () => {
    class OwnGuard extends SessionAuthGuard {}
    Reflect.defineMetadata('nestjs-session-auth:guard', true, OtherCopy);
    const instance = Object.create(SessionAuthGuard.prototype) as object;
    expect(
      [SessionAuthGuard, OwnGuard, instance, OtherCopy, new OtherCopy()].map(isSessionAuthGuard),
    ).toEqual(Array(5).fill(true));
  });

  class OtherCopy {
    readonly name = 'other copy';
  }

  it.each([undefined, null, 'SessionAuthGuard', {}, OtherGuard, Object.create(null)])(
    'is not %p',
    (guard) => {
      expect(isSessionAuthGuard(guard)).toBe(false);
    },
  );
});

const under = (base: Type, ...decorators: ClassDecorator[]): Type => {
  class Derived extends base {}
  for (const decorate of decorators) decorate(Derived);
  return Derived;
};

it('a method that a decorator wraps has the requirement that it adds, and those that it copies', () => {
  const wrap = (prototype: object, name: string, descriptor: PropertyDescriptor): void => {
    const inner = descriptor.value as object;
    const wrapper = (): string => 'in';
    descriptor.value = wrapper;
    SubRoles('recruiter')(prototype, name, descriptor);
    for (const key of Reflect.getMetadataKeys(inner))
      Reflect.defineMetadata(key, Reflect.getMetadata(key, inner), wrapper);
  };
  class Openings {
    @wrap @Roles('boss') list(): string {
      return 'in';
    }
  }
  const list: unknown = Reflect.get(Openings.prototype, 'list');
  expect(textsOf(list as object)).toEqual(['@Roles(boss)', '@SubRoles(recruiter)']);
});

it('a class has its own requirements of a kind, and those of other kinds that it inherits', () => {
  const derived = under(controller(Roles('boss'), SubRoles('recruiter')), Roles('clerk'));
  expect(textsOf(derived)).toEqual(['@Roles(clerk)', '@SubRoles(recruiter)']);
});

it('a class has requirements of kinds that only another version knows', () => {
  const target = controller(Roles('boss'));
  const later = Array.from({ length: 10 }, (_none, kind) => ({ kind }));
  for (const each of later) {
    Reflect.defineMetadata(`nestjs-session-auth:requirements:${each.kind}`, [each], target);
    const { requirements } = declarationOf(target);
    expect(requirements).toEqual([expect.anything(), ...later.slice(0, each.kind + 1)]);
  }
});

describe('the opening of a class or a handler', () => {
  it('is @Public() or @OptionalAuth(), not both', () => {
    for (const both of [
      [Public(), OptionalAuth()],
      [OptionalAuth(), Public()],
    ])
      expect(() => controller(...both)).toThrow('@Public() is beside @OptionalAuth(). Remove one of them.');
    expect(() => controller(Public(), Public())).not.toThrow();
    expect(() => under(controller(Public()), OptionalAuth())).not.toThrow();
  });

  const guarded = UseGuards(SessionAuthGuard);

  it.each<[string, Type, 'public' | 'optional' | undefined]>([
    [
      'of the class that it extends, whose guard it inherits',
      under(controller(Public(), guarded), UseGuards(OtherGuard)),
      'public',
    ],
    ['none, if it names the guard itself', under(controller(Public()), guarded), undefined],
    ['none, if it names the guard again', under(controller(Public(), guarded), guarded), undefined],
    ['none, if a class between them names the guard', under(under(controller(Public()), guarded)), undefined],
    ['its own beside a guard', controller(Public(), guarded), 'public'],
    ['optional, which needs the guard', under(controller(OptionalAuth()), guarded), 'optional'],
  ])('is that %s', (_which, target, open) => {
    expect(declarationOf(target).open).toBe(open);
  });
});

it('declarations are read by every copy of this package', () => {
  const target = controller();
  const requirement = { kind: 'Roles', isMet: () => true };
  Reflect.defineMetadata('nestjs-session-auth:open', 'optional', target);
  Reflect.defineMetadata('nestjs-session-auth:requirements:Roles', [requirement], target);
  expect(declarationOf(target)).toEqual({
    open: 'optional',
    namesGuard: false,
    reportOnly: false,
    requirements: [requirement],
  });
  Reflect.defineMetadata('nestjs-session-auth:decorated', [target], target, 'find');
  expect(decoratedMethods(target, 'find')).toEqual([target]);
});
