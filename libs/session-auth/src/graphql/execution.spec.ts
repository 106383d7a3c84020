import { describe, expect, it } from '@jest/globals';
import { parse, type FragmentDefinitionNode, type OperationDefinitionNode } from 'graphql';
import { Execution, type FieldInfo } from './execution.js';

type Path = FieldInfo['path'];

const pathOf = (...keys: (string | number)[]): Path | undefined =>
  keys.reduce<Path | undefined>((prev, key) => ({ prev, key }), undefined);

/** The info object of a field, in an operation. */
function infoAt(
  keys: (string | number)[],
  document = '{ __typename }',
  variableValues: Record<string, unknown> = {},
): FieldInfo {
  const [operation, ...fragments] = parse(document).definitions as [
    OperationDefinitionNode,
    ...FragmentDefinitionNode[],
  ];
  const path = pathOf(...keys);
  if (!path) throw new Error('A field has a place');
  const info = {
    path,
    variableValues,
    operation,
    fragments: Object.fromEntries(fragments.map((each) => [each.name.value, each])),
  };
  return info as unknown as FieldInfo;
}

function executionWith(...admitted: readonly (readonly [info: FieldInfo, username: string])[]): Execution {
  const execution = new Execution({ headers: {} });
  for (const [info, username] of admitted) execution.admit(info, { user: { username } }, info);
  return execution;
}

const above = (execution: Execution, info: FieldInfo): string | undefined =>
  (execution.above(info)?.user as { readonly username?: string } | undefined)?.username;

describe('the admitted field above another one', () => {
  it('is the nearest, by the keys of its path: compiled operations build another path for each field', () => {
    const execution = executionWith(
      [infoAt(['a']), 'ann'],
      [infoAt(['a', 'b', 1, 'c']), 'bob'],
      [infoAt(['d']), 'carl'],
    );

    expect(above(execution, infoAt(['a', 'x']))).toBe('ann');
    expect(above(execution, infoAt(['a', 'b', 0, 'c', 'd']))).toBe('ann');
    expect(above(execution, infoAt(['a', 'b', 1, 'c', 'd']))).toBe('bob');
    expect(above(execution, infoAt(['a', 'b', 1, 'c', 'd', 2, 'e']))).toBe('bob');
    expect(above(execution, infoAt(['d', 'a', 'b']))).toBe('carl');
    expect(above(execution, infoAt(['x', 'a', 'b', 1, 'c']))).toBeUndefined();
  });

  it('is not the field itself, nor one beside it, nor one below it', () => {
    const execution = executionWith([infoAt(['a', 'b']), 'ann']);
    for (const keys of [['a'], ['a', 'b'], ['a', 'c'], ['b']])
      expect([keys, above(execution, infoAt(keys))]).toEqual([keys, undefined]);
  });

  it('is also one that is admitted after another field has asked', () => {
    const execution = executionWith([infoAt(['a']), 'ann']);
    expect(above(execution, infoAt(['a', 'b', 'c']))).toBe('ann');
    const info = infoAt(['a', 'b']);
    execution.admit(info, { user: { username: 'bob' } }, info);
    expect(above(execution, infoAt(['a', 'b', 'c']))).toBe('bob');
  });
});

describe('the admitted reference above a field', () => {
  const reps = [{ id: 0 }, { id: 1 }, 'text', null];
  const below = (document: string, index: number | string = 1, name = '_entities'): string | undefined => {
    const execution = new Execution({ headers: {} });
    const [info, field] = [['_entities'], [name, index, 'title']].map((keys) =>
      infoAt(keys, document, { of: reps, other: {} }),
    );
    for (const [id, key] of reps.entries())
      if (typeof key === 'object' && key) execution.admit(key, { user: { username: `user-${id}` } }, info);
    return field && above(execution, field);
  };
  const ENTITIES = '_entities(representations: $of) { title }';

  // Rest parameters: Jest passes a callback in place of a missing last parameter, and waits until it is
  // called.
  it.each<[string, string, string?]>([
    ['by its variable', `query ($of: [_Any!]!) { ${ENTITIES} }`],
    [
      'beside other fields',
      `query ($of: [_Any!]!) { a: __typename b: _entities(representations: $other) { x } ${ENTITIES} }`,
    ],
    ['under another name', `query ($of: [_Any!]!) { mine: ${ENTITIES} }`, 'mine'],
    [
      'in a fragment',
      `query ($of: [_Any!]!) { __typename ...Found } fragment Found on Query { ... { ${ENTITIES} } }`,
    ],
    [
      'in a fragment that is named twice',
      `query ($of: [_Any!]!) { ...One ...One ...Two } fragment One on Query { a: __typename } fragment Two on Query { ...One ${ENTITIES} }`,
    ],
  ])('is found %s', (...[, document, name]) => {
    expect([below(document, 0, name), below(document, 1, name)]).toEqual(['user-0', 'user-1']);
  });

  it.each<[string, string, (number | string)?]>([
    ['the list is in the operation itself', '{ _entities(representations: [{ id: 1 }]) { title } }'],
    ['the list is missing', '{ _entities { title } }'],
    [
      'the variable is not a list',
      'query ($other: [_Any!]!) { _entities(representations: $other) { title } }',
    ],
    ['the variable is missing', 'query ($none: [_Any!]!) { _entities(representations: $none) { title } }'],
    ['the reference is a text', `query ($of: [_Any!]!) { ${ENTITIES} }`, 2],
    ['the reference is null', `query ($of: [_Any!]!) { ${ENTITIES} }`, 3],
    ['the list is shorter', `query ($of: [_Any!]!) { ${ENTITIES} }`, 9],
    ['the field is not in the list', `query ($of: [_Any!]!) { ${ENTITIES} }`, 'length'],
    [
      'another field has this name',
      'query ($of: [_Any!]!) { _entities: openings(representations: $of) { title } }',
    ],
    ['the operation does not have the field', '{ ...Missing }'],
  ])('is none if %s', (...[, document, index]) => {
    expect(below(document, index)).toBeUndefined();
  });

  it('is searched once in each fragment, however often a client repeats it', () => {
    const fragments = Array.from(
      { length: 60 },
      (_, index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`,
    );
    expect(below(`{ ...F0 } ${fragments.join(' ')} fragment F60 on Query { __typename }`)).toBeUndefined();
  });

  it('is none where an info object has no document', () => {
    const { path, variableValues } = infoAt(['_entities', 0, 'title']);
    expect(new Execution({ headers: {} }).above({ path, variableValues })).toBeUndefined();
  });
});
