import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { meetsAll, reasonOf, resolveRule, type Declaration, type Requirement } from './access-rule.js';

const roles: Requirement = { kind: 'Roles', text: '@Roles(a)', isMet: () => true };
const otherRoles: Requirement = { kind: 'Roles', text: '@Roles(b)', isMet: () => false };
const subRoles: Requirement = { kind: 'SubRoles', text: '@SubRoles(c)', isMet: () => true };

const isMet = (): boolean => true;
const fresh = (maxAgeMs: number): Requirement => ({ kind: 'FreshSession', text: '', isMet, maxAgeMs });

function declare(open?: Declaration['open'], ...requirements: Requirement[]): Declaration {
  return { open, requirements };
}

const guarded: Declaration = { ...declare(), namesGuard: true };

const publicRule = { kind: 'public' };
const optionalRule = { kind: 'optional', requirements: [] };
const protectedBy = (...requirements: Requirement[]): object => ({ kind: 'protected', requirements });

describe('the rule of a handler', () => {
  it.each([
    ['no declaration', declare(), declare(), protectedBy()],
    ['a public handler', declare('public'), declare(undefined, roles), publicRule],
    ['an optional handler', declare('optional'), declare(undefined, roles), optionalRule],
    ['a public controller', declare(), declare('public'), publicRule],
    ['the guard on a handler of a public controller', guarded, declare('public'), protectedBy()],
    ['the guard on a handler of an optional controller', guarded, declare('optional'), optionalRule],
    ['roles in a public controller', declare(undefined, roles), declare('public'), protectedBy(roles)],
    ['roles and public on one handler', declare('public', roles), declare(), protectedBy(roles)],
    ['roles and public on one controller', declare(), declare('public', roles), protectedBy(roles)],
    ['other roles', declare(undefined, roles), declare(undefined, otherRoles), protectedBy(roles)],
    [
      'sub-roles and roles',
      declare(undefined, subRoles),
      declare(undefined, roles),
      protectedBy(subRoles, roles),
    ],
    [
      'the strictest freshness',
      declare(undefined, fresh(5), fresh(3)),
      declare('public'),
      { ...protectedBy(fresh(5), fresh(3)), maxAgeMs: 3 },
    ],
  ])(
    'comes from the nearest level with a declaration, and is closed by default: %s',
    (_name, handler, controller, rule) => {
      expect(resolveRule(handler, controller)).toEqual(rule);
    },
  );
});

describe('a list of requirements', () => {
  const met = (requirements: Requirement[], timeoutMs = 60_000): ReturnType<typeof meetsAll> =>
    meetsAll({ requirements, user: {}, context: {} as ExecutionContext, request: {}, timeoutMs });
  const ruled = (rule: () => unknown): Requirement => ({ kind: 'Authorize', text: '', isMet: rule });
  const returns = (value: unknown): Requirement => ruled(() => value);
  const thenableOf = (value: unknown): Requirement =>
    returns({ then: (resolve: (met: unknown) => void) => resolve(value) });

  it.each<[string, boolean, Requirement[]]>([
    ['requirements that are all met', true, [returns(true), returns(Promise.resolve(true))]],
    ['all but the last one met', false, [returns(Promise.resolve(true)), returns(false)]],
    ['a truthy result', false, [returns('yes')]],
    ['a promise of a truthy result', false, [returns(Promise.resolve(1))]],
    ['a thenable of a truthy result', false, [thenableOf(1)]],
    ['a thenable that is not a promise', true, [thenableOf(true)]],
  ])('with %s admits the user: %s', async (_name, admitted, requirements) => {
    const unmet = { requirement: requirements.at(-1) };
    expect(await met(requirements)).toEqual(admitted || unmet);
  });

  it('is decided synchronously if every requirement is synchronous', () => {
    expect(met([returns(true)])).toBe(true);
  });

  it.each<[string, Requirement, isLate: boolean]>([
    ['throws', ruled(fail), false],
    ['rejects', returns(Promise.reject(new Error('broken rule'))), false],
    [
      'is of a class whose constructor throws',
      returns(Object.defineProperty(Promise.resolve(true), 'constructor', { get: fail })),
      false,
    ],
    ['never settles', returns(new Promise(() => undefined)), true],
  ])('names the rule that %s, and asks no rule after it', async (_what, broken, isLate) => {
    const asked: string[] = [];
    const after = ruled(() => asked.push('after') > 0);
    expect(await met([returns(Promise.resolve(true)), broken, after], 1)).toEqual({
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
    await met([returns(Promise.resolve(true))]);
    expect(timeouts()).toBe(before);
    expect(await met([late], 1)).toMatchObject({ failure: { isLate: true } });
    rejects[0]?.(new Error('too late'));
    await new Promise((resolve) => setImmediate(resolve));
  });
});

const UNNAMED = 'failed with an error of an unnamed class';

it.each<[string, unknown, string]>([
  ['an error', new RangeError('secret'), 'failed with RangeError'],
  ['nothing', undefined, UNNAMED],
  ['a class with no name of a class', { constructor: { name: 'the secret' } }, UNNAMED],
  ['a class that throws', Object.defineProperty({}, 'constructor', { get: fail }), UNNAMED],
])('the reason of a rule that throws %s has no text of it', (_what, error, reason) => {
  expect(reasonOf({ error })).toBe(reason);
});

function fail(): never {
  throw new Error('broken rule');
}
