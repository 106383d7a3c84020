import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { meetsAll, resolveRule, type Declaration, type Requirement } from './access-rule.js';

const roles: Requirement = { kind: 'roles', isMet: () => true };
const otherRoles: Requirement = { kind: 'roles', isMet: () => false };
const subRoles: Requirement = { kind: 'sub-roles', isMet: () => true };

const isMet = (): boolean => true;
const fresh = (maxAgeMs: number): Requirement => ({ kind: 'fresh-session', isMet, maxAgeMs });

function says(open?: Declaration['open'], ...requirements: Requirement[]): Declaration {
  return { open, requirements };
}

describe('the rule of a handler', () => {
  it.each([
    ['nothing anywhere', says(), says(), { kind: 'protected', requirements: [] }],
    ['a public handler', says('public'), says(undefined, roles), { kind: 'public' }],
    ['an optional handler', says('optional'), says(undefined, roles), { kind: 'optional', requirements: [] }],
    ['an optional handler of a public controller', says('optional'), says('public'), { kind: 'optional', requirements: [] }],
    ['a public controller', says(), says('public'), { kind: 'public' }],
    ['roles in a public controller', says(undefined, roles), says('public'), { kind: 'protected', requirements: [roles] }],
    ['roles beside public on one handler', says('public', roles), says(), { kind: 'protected', requirements: [roles] }],
    ['roles beside public on one controller', says(), says('public', roles), { kind: 'protected', requirements: [roles] }],
    [
      'the strictest freshness',
      says(undefined, fresh(5), fresh(3)),
      says('public'),
      { kind: 'protected', requirements: [fresh(5), fresh(3)], maxAgeMs: 3 },
    ],
    ['roles on both', says(undefined, roles), says(undefined, otherRoles), { kind: 'protected', requirements: [roles] }],
    [
      'sub-roles on one and roles on the other',
      says(undefined, subRoles),
      says(undefined, roles),
      { kind: 'protected', requirements: [subRoles, roles] },
    ],
  ])('with %s is what the nearer level says, closed in doubt', (_name, handler, controller, rule) => {
    expect(resolveRule(handler, controller)).toEqual(rule);
  });
});

describe('what a user must meet', () => {
  const context = {} as ExecutionContext;
  const returns = (value: unknown): Requirement => ({ kind: 'authorize', isMet: () => value });
  const throws: Requirement = {
    kind: 'authorize',
    isMet: () => {
      throw new Error('broken rule');
    },
  };

  it.each<[string, Requirement[], boolean]>([
    ['nothing', [], true],
    ['all', [returns(true), returns(Promise.resolve(true))], true],
    ['all but the last', [returns(Promise.resolve(true)), returns(false)], false],
    ['something truthy', [returns('yes')], false],
    ['something truthy later', [returns(Promise.resolve(1))], false],
    ['a rule that throws', [throws], false],
    ['a rule that rejects', [returns(Promise.reject(new Error('broken rule')))], false],
    ['an object that looks like a promise', [returns({ then: (resolve: (met: boolean) => void) => resolve(true) })], false],
  ])('with %s admits: see the last column', async (_name, requirements, admitted) => {
    expect(await meetsAll(requirements, {}, context)).toBe(admitted);
  });

  it('is known at once while every rule answers at once', () => {
    expect(meetsAll([returns(true)], {}, context)).toBe(true);
  });
});
