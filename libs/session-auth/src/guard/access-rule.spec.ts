import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { meetsAll, resolveRule, type Declaration, type Requirement } from './access-rule.js';

const roles: Requirement = { kind: 'Roles', text: '@Roles(a)', isMet: () => true };
const otherRoles: Requirement = { kind: 'Roles', text: '@Roles(b)', isMet: () => false };
const subRoles: Requirement = { kind: 'SubRoles', text: '@SubRoles(c)', isMet: () => true };

const isMet = (): boolean => true;
const fresh = (maxAgeMs: number): Requirement => ({
  kind: 'FreshSession',
  text: '@FreshSession()',
  isMet,
  maxAgeMs,
});

function declare(open?: Declaration['open'], ...requirements: Requirement[]): Declaration {
  return { open, requirements };
}

const guarded: Declaration = { ...declare(), namesGuard: true };

describe('the rule of a handler', () => {
  it.each([
    ['no declaration', declare(), declare(), { kind: 'protected', requirements: [] }],
    ['a public handler', declare('public'), declare(undefined, roles), { kind: 'public' }],
    [
      'an optional handler',
      declare('optional'),
      declare(undefined, roles),
      { kind: 'optional', requirements: [] },
    ],
    [
      'an optional handler of a public controller',
      declare('optional'),
      declare('public'),
      { kind: 'optional', requirements: [] },
    ],
    ['a public controller', declare(), declare('public'), { kind: 'public' }],
    [
      'the guard on a handler of a public controller',
      guarded,
      declare('public'),
      { kind: 'protected', requirements: [] },
    ],
    [
      'the guard on a handler of an optional controller',
      guarded,
      declare('optional'),
      { kind: 'optional', requirements: [] },
    ],
    [
      'roles in a public controller',
      declare(undefined, roles),
      declare('public'),
      { kind: 'protected', requirements: [roles] },
    ],
    [
      'roles and public on one handler',
      declare('public', roles),
      declare(),
      { kind: 'protected', requirements: [roles] },
    ],
    [
      'roles and public on one controller',
      declare(),
      declare('public', roles),
      { kind: 'protected', requirements: [roles] },
    ],
    [
      'the strictest freshness',
      declare(undefined, fresh(5), fresh(3)),
      declare('public'),
      { kind: 'protected', requirements: [fresh(5), fresh(3)], maxAgeMs: 3 },
    ],
    [
      'roles on handler and controller',
      declare(undefined, roles),
      declare(undefined, otherRoles),
      { kind: 'protected', requirements: [roles] },
    ],
    [
      'sub-roles on one and roles on the other',
      declare(undefined, subRoles),
      declare(undefined, roles),
      { kind: 'protected', requirements: [subRoles, roles] },
    ],
  ])(
    'comes from the nearest level with a declaration, and is closed by default: %s',
    (_name, handler, controller, rule) => {
      expect(resolveRule(handler, controller)).toEqual(rule);
    },
  );
});

describe('the rule of a handler of a named authority', () => {
  const of = (authority: string | undefined, ...declared: Parameters<typeof declare>): Declaration => ({
    ...declare(...declared),
    authority,
  });
  const closed = { kind: 'protected', requirements: [] };

  it.each([
    ['the name of the handler', of('a'), of('b'), { ...closed, authority: 'a' }],
    ['the name of the controller', declare(), of('b'), { ...closed, authority: 'b' }],
    ['no name', declare(), declare(), closed],
    [
      'roles',
      of('a', undefined, roles),
      declare(),
      { kind: 'protected', requirements: [roles], authority: 'a' },
    ],
    [
      'an optional handler',
      of('a', 'optional'),
      declare(),
      { kind: 'optional', requirements: [], authority: 'a' },
    ],
    ['a name and public on one handler', of('a', 'public'), declare(), { ...closed, authority: 'a' }],
    ['a name and public on one controller', declare(), of('a', 'public'), { ...closed, authority: 'a' }],
    ['a name on a handler of a public controller', of('a'), declare('public'), { ...closed, authority: 'a' }],
    ['a public handler of a controller with a name', declare('public'), of('a'), { kind: 'public' }],
    [
      'an optional controller with a name',
      declare(),
      of('a', 'optional'),
      { kind: 'optional', requirements: [], authority: 'a' },
    ],
  ])('is closed unless another level opens it: %s', (_name, handler, controller, rule) => {
    expect(resolveRule(handler, controller)).toEqual(rule);
  });

  it('replaces each kind of requirement that the handler repeats', () => {
    const rule = resolveRule(declare(undefined, roles, subRoles), declare(undefined, otherRoles));
    expect(rule).toEqual({ kind: 'protected', requirements: [roles, subRoles] });
  });
});

describe('a list of requirements', () => {
  const context = {} as ExecutionContext;
  const returns = (value: unknown): Requirement => ({
    kind: 'Authorize',
    text: '@Authorize()',
    isMet: () => value,
  });
  const throws: Requirement = {
    kind: 'Authorize',
    text: '@Authorize()',
    isMet: fail,
  };

  it.each<[string, boolean, Requirement[]]>([
    ['no requirement', true, []],
    ['requirements that are all met', true, [returns(true), returns(Promise.resolve(true))]],
    ['all but the last one met', false, [returns(Promise.resolve(true)), returns(false)]],
    ['a truthy result', false, [returns('yes')]],
    ['a promise of a truthy result', false, [returns(Promise.resolve(1))]],
    [
      'a thenable that is not a promise',
      false,
      [returns({ then: (resolve: (met: boolean) => void) => resolve(true) })],
    ],
  ])('with %s admits the user: %s', async (_name, admitted, requirements) => {
    const unmet = { requirement: requirements.at(-1) };
    expect(await meetsAll({ requirements, user: {}, context, request: {}, timeoutMs: 60_000 })).toEqual(
      admitted || unmet,
    );
  });

  it('is decided synchronously if every requirement is synchronous', () => {
    const requirements = [returns(true)];
    expect(meetsAll({ requirements, user: {}, context, request: {}, timeoutMs: 60_000 })).toBe(true);
  });

  it.each<[string, Requirement, isLate: boolean]>([
    ['throws', throws, false],
    ['rejects', returns(Promise.reject(new Error('broken rule'))), false],
    [
      'is of a class whose constructor throws',
      returns(Object.defineProperty(Promise.resolve(true), 'constructor', { get: fail })),
      false,
    ],
    ['never settles', returns(new Promise(() => undefined)), true],
  ])('names the rule that %s, and asks no rule after it', async (_what, broken, isLate) => {
    const asked: string[] = [];
    const after: Requirement = {
      kind: 'Authorize',
      text: '@Authorize()',
      isMet: () => asked.push('after') > 0,
    };
    const requirements = [returns(Promise.resolve(true)), broken, after];
    const result = await meetsAll({ requirements, user: {}, context, request: {}, timeoutMs: 1 });
    expect(result).toEqual({
      requirement: broken,
      failure: isLate ? { isLate } : { error: new Error('broken rule') },
    });
    expect(asked).toEqual([]);
  });

  it('leaves no timer behind, and ignores a rejection that comes too late', async () => {
    const rejects: ((error: Error) => void)[] = [];
    const late = returns(new Promise((_resolve, reject) => void rejects.push(reject)));
    const timeouts = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = timeouts();
    await meetsAll({
      requirements: [returns(Promise.resolve(true))],
      user: {},
      context,
      request: {},
      timeoutMs: 60_000,
    });
    expect(timeouts()).toBe(before);
    expect(
      await meetsAll({ requirements: [late], user: {}, context, request: {}, timeoutMs: 1 }),
    ).toMatchObject({ failure: { isLate: true } });
    rejects[0]?.(new Error('too late'));
    await new Promise((resolve) => setImmediate(resolve));
  });
});

function fail(): never {
  throw new Error('broken rule');
}
