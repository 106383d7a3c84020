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

/** A resolver of this name, of a type or of root fields, with these decorators on its class and its one method. */
function resolver(
  name: string,
  type: string | undefined,
  method: string,
  decorators: MethodDecorator[],
  classDecorators: ClassDecorator[] = [],
): Type {
  class Owner {
    readonly name = name;
  }
  Object.defineProperty(Owner, 'name', { value: name });
  const prototype = Owner.prototype as object;
  Object.defineProperty(prototype, method, { configurable: true, value: () => method });
  Reflect.decorate(decorators, prototype, method, Object.getOwnPropertyDescriptor(prototype, method));
  return Reflect.decorate([type ? Resolver(type) : Resolver(), ...classDecorators], Owner) as Type;
}

const guarded = [UseGuards(SessionAuthGuard)];
const GuardedTitle = resolver('GuardedTitle', 'Opening', 'title', [ResolveField('title')], guarded);
const RuledSalary = resolver('RuledSalary', 'Opening', 'salary', [ResolveField('salary'), isAdmin]);
const WithoutType = resolver('WithoutType', undefined, 'name', [ResolveField('name')], guarded);
const [OpenReference, OtherReference] = ['Opening', 'Company'].map((type) =>
  resolver('Reference', type, 'resolveReference', [ResolveReference(), Public()]),
) as [Type, Type];
/** A guarded mutation with the name of `Query.openings`. */
const OpeningsMutation = resolver('OpeningsMutation', undefined, 'open', [Mutation('openings'), isAdmin]);
/** A resolver of `Query.openings` with these decorators. */
const queryWith = (...decorators: MethodDecorator[]): Type =>
  resolver('Root', undefined, 'list', [Query('openings'), ...decorators]);
/** A class of the `Opening` with one field. */
const fieldWith = (...decorators: MethodDecorator[]): Type =>
  resolver('Shared', 'Opening', 'salary', [ResolveField('salary'), ...decorators]);

const rootOf = (name: string, ...reaches: string[]): RootField => ({
  type: 'Query',
  name,
  reaches: new Set(reaches),
});
const OPENINGS = rootOf('openings', 'Opening', 'String');
const OTHER = rootOf('others', 'Company');

function open(classes: Type[], rootFields: RootField[] | undefined): unknown {
  const handlers = classes.flatMap(handlersIn);
  return handlers.flatMap((handler) => {
    const found = unguardedField(handler, { ...CONTEXT, rootFields, handlers });
    return found
      ? [/^(\S+) can be reached(?: through (\S+))? without its check: /.exec(found.text)?.slice(1)]
      : [];
  });
}

describe('a field or a reference of GraphQL', () => {
  const title = ['GuardedTitle.title', 'Query.openings'];
  const salary = ['Shared.salary', 'Query.openings'];

  it.each<[string, Type[], RootField[] | undefined, unknown[]]>([
    ['its root field has no resolver that is guarded', [GuardedTitle], [OTHER, OPENINGS], title],
    ['its root field is optional', [GuardedTitle, queryWith(OptionalAuth())], [OPENINGS], title],
    ['only a mutation of that name is guarded', [GuardedTitle, OpeningsMutation], [OPENINGS], title],
    ['one resolver of two is open', [GuardedTitle, queryWith(isAdmin), queryWith()], [OPENINGS], title],
    ['its root field lacks its requirement', [fieldWith(isAdmin), queryWith(...guarded)], [OPENINGS], salary],
    ['it lacks one of them', [fieldWith(isAdmin, isOwner), queryWith(isAdmin)], [OPENINGS], salary],
    ['no schema is known', [RuledSalary, queryWith(isAdmin)], undefined, ['RuledSalary.salary', undefined]],
    [
      'its type has a reference',
      [GuardedTitle, OpenReference, queryWith(isAdmin)],
      [],
      ['GuardedTitle.title', 'Query._entities'],
    ],
  ])('can be reached without its check if %s', (_when, classes, rootFields, expected) => {
    expect(open(classes, rootFields)).toStrictEqual([expected]);
  });

  it.each<[string, Type[], RootField[] | undefined]>([
    ['all resolvers are guarded', [GuardedTitle, queryWith(isAdmin), queryWith(isOwner)], [OPENINGS]],
    ['all are required', [fieldWith(isAdmin, isOwner), queryWith(isOwner, isAdmin)], [OPENINGS]],
    ['it belongs to no type', [WithoutType], undefined],
    ['another type has a reference', [GuardedTitle, OtherReference, queryWith(isAdmin)], [OPENINGS]],
    ['it is a root field', [queryWith(isAdmin)], [rootOf('openings', 'Query')]],
  ])('cannot be reached without its check if %s', (_when, classes, rootFields) => {
    expect(open(classes, rootFields)).toEqual([]);
  });
});
