import { describe, expect, it } from '@jest/globals';
import { UseGuards, type Type } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { OptionalAuth, Public, Roles } from '../guard/access.decorators.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { handlersIn, type Handler } from '../guard/handlers.js';
import type { RootField } from './schema-reach.js';
import { isGuarded, requirementsOf } from './audited-handlers.js';
import { fieldNameOf, resolves, typeNameOf } from './mapped-fields.js';

@Resolver()
@UseGuards(SessionAuthGuard)
class GuardedClass {
  @ResolveField('name')
  name(): string {
    return 'name';
  }
}
@Resolver('Opening')
class RuledSalary {
  @ResolveField('salary')
  @Roles('admin')
  salary(): string {
    return 'salary';
  }
}

/** A resolver of `Query.openings` with these decorators. */
function queryWith(...decorators: MethodDecorator[]): Type {
  @Resolver()
  class Root {
    @Query('openings')
    list(): string {
      return 'openings';
    }
  }
  const { prototype } = Root;
  Reflect.decorate(decorators, prototype, 'list', Object.getOwnPropertyDescriptor(prototype, 'list'));
  return Root;
}

/** The first handler of a class, with the guards that the application would give it. */
const first = (owner: Type, isGlobal = false): Handler => {
  const [handler] = handlersIn(owner);
  if (!handler) throw new Error(`${owner.name} has no handler`);
  return isGlobal ? { ...handler, guards: [SessionAuthGuard, ...handler.guards] } : handler;
};

describe('the requirements of a handler', () => {
  it('are those of its rule if the guard runs on it, and unknown if it is open', () => {
    const required = (owner: Type, isGlobal = false): unknown =>
      requirementsOf(first(owner, isGlobal))?.map(({ kind }) => kind);
    expect([required(RuledSalary), required(GuardedClass), required(queryWith(), true)]).toEqual([
      ['Roles'],
      [],
      [],
    ]);
    const opened = [queryWith(), queryWith(Public()), queryWith(OptionalAuth())];
    expect(opened.map((owner) => required(owner))).toEqual([undefined, undefined, undefined]);
    expect([required(queryWith(Public()), true), required(queryWith(OptionalAuth()), true)]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it.each<[string, Type, boolean, boolean]>([
    ['nothing names it', queryWith(), false, false],
    ['it is global', queryWith(), true, true],
    ['the class names it', GuardedClass, false, true],
    ['the method names it', queryWith(UseGuards(SessionAuthGuard)), false, true],
  ])('are checked by the guard, or not: %s', (_why, owner, isGlobal, expected) => {
    expect(isGuarded(first(owner, isGlobal))).toBe(expected);
  });
});

describe('the type and the field of a resolver', () => {
  @Resolver('Opening')
  class Named {
    @Mutation('close')
    closeOpening(): string {
      return 'closed';
    }
    @ResolveField()
    title(): string {
      return 'title';
    }
  }

  it('are those of the method, otherwise the type of the class and the name of the method', () => {
    const handlers = handlersIn(Named);
    expect(handlers.map((handler) => [typeNameOf(handler), fieldNameOf(handler)])).toEqual([
      ['Mutation', 'close'],
      ['Opening', 'title'],
    ]);
    expect(typeNameOf(first(GuardedClass))).toBeUndefined();
  });

  it('are both those of the root field that it resolves', () => {
    const [close] = handlersIn(Named);
    const root = (type: RootField['type'], name: string): RootField => ({ type, name, reaches: new Set() });
    const roots = [root('Mutation', 'close'), root('Query', 'close'), root('Mutation', 'open')];
    expect(roots.map((each) => close && resolves(close, each))).toEqual([true, false, false]);
  });
});
