import { describe, expect, it } from '@jest/globals';
import { ADMISSION, type Admission, type GuardedRequest } from '../guard/guarded-request.js';
import { attachedTo, Execution, type FieldInfo } from './execution.js';

type Path = FieldInfo['path'];

const pathOf = (...keys: (string | number)[]): Path | undefined =>
  keys.reduce<Path | undefined>((prev, key) => ({ prev, key }), undefined);

const infoAt = (...keys: (string | number)[]): FieldInfo => ({ path: pathOf(...keys), variableValues: {} });

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
      [infoAt('a'), 'ann'],
      [infoAt('a', 'b', 1, 'c'), 'bob'],
      [infoAt('d'), 'carl'],
    );

    expect(above(execution, infoAt('a', 'x'))).toBe('ann');
    expect(above(execution, infoAt('a', 'b', 0, 'c', 'd'))).toBe('ann');
    expect(above(execution, infoAt('a', 'b', 1, 'c', 'd'))).toBe('bob');
    expect(above(execution, infoAt('a', 'b', 1, 'c', 'd', 2, 'e'))).toBe('bob');
    expect(above(execution, infoAt('d', 'a', 'b'))).toBe('carl');
    expect(above(execution, infoAt('x', 'a', 'b', 1, 'c'))).toBeUndefined();
  });

  it('is not the field itself, nor one beside it, nor one below it', () => {
    const execution = executionWith([infoAt('a', 'b'), 'ann']);
    for (const keys of [['a'], ['a', 'b'], ['a', 'c'], ['b']])
      expect([keys, above(execution, infoAt(...keys))]).toEqual([keys, undefined]);
  });

  it('is also one that is admitted after another field has asked', () => {
    const execution = executionWith([infoAt('a'), 'ann']);
    expect(above(execution, infoAt('a', 'b', 'c'))).toBe('ann');
    const info = infoAt('a', 'b');
    execution.admit(info, { user: { username: 'bob' } }, info);
    expect(above(execution, infoAt('a', 'b', 'c'))).toBe('bob');
  });
});

describe('the admitted reference above a field', () => {
  const references = [{ id: 0 }, { id: 1 }, 'text', null];
  const below = (...keys: (string | number)[]): string | undefined => {
    const execution = new Execution({ headers: {} });
    const variableValues = { limit: 5, none: [], references };
    const info = { path: pathOf('mine'), variableValues, fieldName: '_entities' };
    for (const [id, key] of [...references, { id: 'inline' }].entries())
      if (typeof key === 'object' && key) execution.admit(key, { user: { username: `user-${id}` } }, info);
    return above(execution, infoAt(...keys));
  };

  it('is found by the index of its object in a variable, under any name of the field', () => {
    expect([below('mine', 0, 'title'), below('mine', 1, 'desk', 'title')]).toEqual(['user-0', 'user-1']);
  });

  it.each<[string, (string | number)[]]>([
    ['the reference is a text', ['mine', 2, 'title']],
    ['the reference is null', ['mine', 3, 'title']],
    ['no variable has its object', ['mine', 4, 'title']],
    ['the field is below another one', ['_entities', 0, 'title']],
    ['the field is the list itself', ['mine', 0]],
  ])('is none if %s', (_why, keys) => {
    expect(below(...keys)).toBeUndefined();
  });

  it('is none of an object that is resolved for its type', () => {
    const execution = new Execution({ headers: {} });
    const info = { path: pathOf('node'), variableValues: { references }, fieldName: 'node' };
    execution.admit(references[0] as object, { user: { username: 'ann' } }, info);
    expect(above(execution, infoAt('node', 0, 'title'))).toBeUndefined();
  });
});

describe('an object that several calls resolve', () => {
  const session = { token: 'token', authIv: 'iv' };
  const ann = { verifier: {}, context: {}, session, user: { username: 'ann' } } as unknown as Admission;
  const robot = { ...ann, session: undefined, user: { username: 'robot' } };
  const other = { context: {} };
  const carrying = (own: object): GuardedRequest => ({ [ADMISSION]: own as Admission });

  it.each<[string, object, object, boolean]>([
    ['are one call', ann, { user: { username: 'bob' } }, true],
    ['have one session, whose record was read again', ann, { ...other, user: { username: 'ann' } }, true],
    ['are of another registration', ann, { ...other, verifier: {} }, false],
    ['have another token', ann, { ...other, session: { ...session, token: 'other' } }, false],
    ['have another X-AUTH-IV', ann, { ...other, session: { ...session, authIv: 'other' } }, false],
    ['are with and without a session', ann, { ...other, session: undefined, user: undefined }, false],
    ['have one user without a session', robot, other, true],
    ['have two users without a session', robot, { ...other, user: { username: 'other' } }, false],
  ])('carries their caller, or none, if they %s', (_case, admission, change, isOne) => {
    const requests = [carrying(admission), carrying({ ...admission, ...change })];
    for (const [first = {}, second = {}] of [requests, [...requests].reverse()]) {
      const execution = new Execution({ headers: {} });
      const key = {};
      execution.admit(key, first, undefined);
      execution.admit(key, second, undefined);
      expect(execution.of(key)).toEqual(isOne ? second : {});
      execution.admit(key, second, undefined);
      expect(execution.of(key)).toEqual(isOne ? second : {});
    }
  });
});

describe('the admission of a request', () => {
  it('can be kept without the request, and is none before a guard has admitted it', () => {
    expect(Reflect.ownKeys(attachedTo({}))).toEqual(['user']);
    const admission = { user: { username: 'ann' } } as Admission;
    const kept = { user: { username: 'ann' }, [ADMISSION]: admission };
    expect(attachedTo({ ...kept, method: 'POST' })).toEqual(kept);
  });
});
