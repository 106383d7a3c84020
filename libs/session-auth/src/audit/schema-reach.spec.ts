import { describe, expect, it } from '@jest/globals';
import { buildSchema, type GraphQLObjectType } from 'graphql';
import { rootFieldsOf, type RootField } from './schema-reach.js';

const TYPES = `
  type Query { opening: Opening! openings: [Opening!]! found: Found named: Named! leaf: String reasons: Reason loop: Loop! unresolved: Opening }
  type Mutation { close(reason: Reasons): Boolean }
  type Subscription { opened: Opening closed: Opening }
  interface Entity { id: ID }
  interface Named implements Entity { id: ID name: String }
  type Opening { title: String company: [[Company!]]! }
  type Company implements Named & Entity { id: ID name: String city: City }
  type Person implements Named & Entity { id: ID name: String }
  type City { size: Int }
  type Loop { next: Loop! city: City }
  union Found = City | Loop
  enum Reason { FULL }
  input Reasons { first: Reason }`;

const resolve = (): unknown => undefined;

/** The root fields of a schema; every field of a root type has a resolver, except these. */
function rootFields(types: string, unresolved: string[] = [], subscribed: string[] = []): RootField[] {
  const schema = buildSchema(types);
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  for (const field of roots.flatMap((root?: GraphQLObjectType | null) =>
    Object.values(root?.getFields() ?? {}),
  )) {
    if (subscribed.includes(field.name)) field.subscribe = resolve;
    else if (!unresolved.includes(field.name)) field.resolve = resolve;
  }
  return rootFieldsOf(schema as unknown as Parameters<typeof rootFieldsOf>[0]);
}

function reachedBy(name: string): string[] {
  return [...(rootFields(TYPES).find((field) => field.name === name)?.reaches ?? [])].sort();
}

describe('the root fields of a schema', () => {
  it('are those with a resolver, by the root types of resolvers', () => {
    const fields = rootFields(TYPES, ['unresolved', 'closed'], ['opened']);
    expect(fields.map(({ type, name }) => `${type}.${name}`)).toEqual([
      ...['opening', 'openings', 'found', 'named', 'leaf', 'reasons', 'loop'].map((name) => `Query.${name}`),
      'Mutation.close',
      'Subscription.opened',
    ]);
  });

  it('have the root types of resolvers, whatever their names in the schema', () => {
    const fields = rootFields(
      'schema { query: Reads mutation: Writes } type Reads { one: Int } type Writes { two: Int }',
    );
    expect(fields).toEqual([
      { type: 'Query', name: 'one', reaches: new Set(['Int']) },
      { type: 'Mutation', name: 'two', reaches: new Set(['Int']) },
    ]);
  });

  it('are none in a schema without root types', () => {
    expect(rootFields('type Opening { title: String }')).toEqual([]);
  });
});

describe('a selection below a root field', () => {
  it.each<[string, string, string]>([
    [
      'the types below the field, in lists or not',
      'opening',
      'City Company Entity ID Int Named Opening String',
    ],
    ['the types of a union', 'found', 'City Found Int Loop'],
    ['the types that implement an interface', 'named', 'City Company Entity ID Int Named Person String'],
    ['a scalar', 'leaf', 'String'],
    ['each type of a cycle once', 'loop', 'City Int Loop'],
    ['no type of an argument', 'close', 'Boolean'],
  ])('reaches %s: %s', (_what, name, reached) => {
    expect(reachedBy(name).join(' ')).toBe(reached);
  });
});
