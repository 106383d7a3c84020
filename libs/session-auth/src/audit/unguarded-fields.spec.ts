import { describe, expect, it } from '@jest/globals';
import { UseGuards, type Type } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { Mutation, Query, ResolveField, ResolveReference, Resolver } from '@nestjs/graphql';
import { Authorize, OptionalAuth, Public, Roles } from '../guard/access.decorators.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { handlersIn } from '../guard/handlers.js';
import { type AuditContext, auditContextOf } from './audit-context.js';
import { BEYOND_ROUTES } from './beyond-routes.js';
import type { RootField } from './schema-reach.js';
import { unguardedField } from './unguarded-fields.js';

const CONTEXT: AuditContext = {
  ...auditContextOf(new ModulesContainer(), new ApplicationConfig(), BEYOND_ROUTES),
  fieldsAreGuarded: false,
};

const isAdmin = Roles('admin');
const isOwner = Authorize(() => true);

@Resolver('Opening')
@UseGuards(SessionAuthGuard)
class GuardedTitle {
  @ResolveField('title')
  title(): string {
    return 'title';
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
@Resolver()
@UseGuards(SessionAuthGuard)
class WithoutType {
  @ResolveField('name')
  name(): string {
    return 'name';
  }
}
@Resolver('Opening')
class OpenReference {
  @ResolveReference()
  @Public()
  resolveReference(): string {
    return 'reference';
  }
}
@Resolver('Company')
class OtherReference {
  @ResolveReference()
  @Public()
  resolveReference(): string {
    return 'reference';
  }
}

function decorated(owner: Type, name: string, decorators: MethodDecorator[]): Type {
  const prototype = owner.prototype as object;
  Reflect.decorate(decorators, prototype, name, Object.getOwnPropertyDescriptor(prototype, name));
  return owner;
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
  return decorated(Root, 'list', decorators);
}

/** A guarded mutation with the name of `Query.openings`. */
@Resolver()
class OpeningsMutation {
  @Mutation('openings')
  @Roles('admin')
  open(): string {
    return 'opened';
  }
}

/** A class of the `Opening` with one field, and one of `Query.openings`, that share a requirement or not. */
function fieldWith(...decorators: MethodDecorator[]): Type {
  @Resolver('Opening')
  class Shared {
    @ResolveField('salary')
    salary(): string {
      return 'salary';
    }
  }
  return decorated(Shared, 'salary', decorators);
}

const rootOf = (name: string, ...reaches: string[]): RootField => ({
  type: 'Query',
  name,
  reaches: new Set(reaches),
});
const OPENINGS = rootOf('openings', 'Opening', 'String');
const OTHER = rootOf('others', 'Company');
type Given = Partial<AuditContext>;

function open(classes: Type[], context: Given): unknown {
  const handlers = classes.flatMap(handlersIn);
  return handlers.flatMap((handler) => {
    const found = unguardedField(handler, { ...CONTEXT, ...context, handlers });
    return found
      ? [/^(\S+) can be reached(?: through (\S+))? without its check: /.exec(found.text)?.slice(1)]
      : [];
  });
}

describe('a field or a reference of GraphQL', () => {
  const title = ['GuardedTitle.title', 'Query.openings'];
  const salary = ['Shared.salary', 'Query.openings'];

  it.each<[string, Type[], Given, unknown[]]>([
    [
      'its root field has no resolver that is guarded',
      [GuardedTitle],
      { rootFields: [OTHER, OPENINGS] },
      [title],
    ],
    [
      'its root field is optional',
      [GuardedTitle, queryWith(OptionalAuth())],
      { rootFields: [OPENINGS] },
      [title],
    ],
    [
      'only a mutation with the name of its root field is guarded',
      [GuardedTitle, OpeningsMutation],
      { rootFields: [OPENINGS] },
      [title],
    ],
    [
      'one of two resolvers of its root field is open',
      [GuardedTitle, queryWith(isAdmin), queryWith()],
      { rootFields: [OPENINGS] },
      [title],
    ],
    [
      'its root field lacks its requirement',
      [fieldWith(isAdmin), queryWith(UseGuards(SessionAuthGuard))],
      { rootFields: [OPENINGS] },
      [salary],
    ],
    [
      'its root field lacks one of its requirements',
      [fieldWith(isAdmin, isOwner), queryWith(isAdmin)],
      { rootFields: [OPENINGS] },
      [salary],
    ],
    ['no schema is known', [RuledSalary, queryWith(isAdmin)], {}, [['RuledSalary.salary', undefined]]],
    [
      'its type has a reference',
      [GuardedTitle, OpenReference, queryWith(isAdmin)],
      { rootFields: [] },
      [['GuardedTitle.title', 'Query._entities']],
    ],
  ])('can be reached without its check if %s', (_when, classes, context, expected) => {
    expect(open(classes, context)).toStrictEqual(expected);
  });

  it.each<[string, Type[], Given]>([
    [
      'all resolvers of its root field are guarded',
      [GuardedTitle, queryWith(isAdmin), queryWith(isOwner)],
      { rootFields: [OPENINGS] },
    ],
    [
      'its root field has all its requirements',
      [fieldWith(isAdmin, isOwner), queryWith(isOwner, isAdmin)],
      { rootFields: [OPENINGS] },
    ],
    ['it belongs to no type', [WithoutType], {}],
    [
      'another type has a reference',
      [GuardedTitle, OtherReference, queryWith(isAdmin)],
      { rootFields: [OPENINGS] },
    ],
    ['it is a root field', [queryWith(isAdmin)], { rootFields: [rootOf('openings', 'Query')] }],
  ])('cannot be reached without its check if %s', (_when, classes, context) => {
    expect(open(classes, context)).toEqual([]);
  });
});
