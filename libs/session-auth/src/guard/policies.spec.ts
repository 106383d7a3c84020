import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { InvalidConfigurationError } from '../contract/errors.js';
import { AccessRules } from './access-rules.js';
import { Authorize, FreshSession, Public } from './access.decorators.js';
import { meetsAll, type AccessRule } from './access-rule.js';
import type { AskPolicy, FindPolicy } from './access-rules.js';

class Policy {
  allows(): boolean {
    return true;
  }
}

class Routes {
  @Authorize(Policy)
  @FreshSession({ maxAgeMs: 5 })
  byPolicy(): string {
    return 'by policy';
  }
  @FreshSession({ maxAgeMs: 5 })
  fresh(): string {
    return 'fresh';
  }
  @Public()
  open(): string {
    return 'open';
  }
}

const handlers = Routes.prototype as unknown as Readonly<Record<keyof Routes, () => string>>;
const calling = (handler: keyof Routes): ExecutionContext =>
  ({ getClass: () => Routes, getHandler: () => handlers[handler] }) as unknown as ExecutionContext;

const context = {} as ExecutionContext;
const user = { username: 'ann' };

const rulesWith = (findPolicy: FindPolicy | undefined): AccessRules =>
  Object.assign(new AccessRules(), { findPolicy });

function asked(findPolicy: FindPolicy | undefined): unknown {
  const rule = rulesWith(findPolicy).of(calling('byPolicy')) as AccessRule & { kind: 'protected' };
  expect(rule).toMatchObject({ kind: 'protected', maxAgeMs: 5 });
  return meetsAll({ requirements: rule.requirements, user, context, request: {}, timeoutMs: 60_000 });
}

describe('a policy', () => {
  it('decides for its controller, with the user and the call', () => {
    const seen: unknown[] = [];
    const decide =
      (result: boolean): FindPolicy =>
      (...parameters) => {
        seen.push(parameters);
        return (...call) => {
          seen.push(call);
          return result;
        };
      };
    expect([asked(decide(true)), asked(decide(false))]).toEqual([
      true,
      { requirement: expect.objectContaining({ policy: Policy }) },
    ]);
    expect(seen.slice(0, 2)).toEqual([
      [Routes, Policy],
      [user, context, undefined],
    ]);
  });

  it.each<[string, FindPolicy | undefined]>([
    ['there are none', undefined],
    ['it is not found', () => undefined],
  ])('can not be asked if %s', (_name, findPolicy) => {
    expect(asked(findPolicy)).toMatchObject({ failure: { error: expect.any(InvalidConfigurationError) } });
  });

  it('is found once', () => {
    let found = 0;
    const find = (): AskPolicy => {
      found += 1;
      return () => true;
    };
    const rule = rulesWith(find).of(calling('byPolicy')) as AccessRule & { kind: 'protected' };
    expect([
      meetsAll({ requirements: rule.requirements, user, context, request: {}, timeoutMs: 60_000 }),
      meetsAll({ requirements: rule.requirements, user, context, request: {}, timeoutMs: 60_000 }),
      found,
    ]).toEqual([true, true, 1]);
  });

  it('is not searched for handlers without one', () => {
    const find = (): never => {
      throw new Error('not asked for');
    };
    const rules = rulesWith(find);
    expect(rules.of(calling('open'))).toEqual({ kind: 'public' });
    expect(rules.of(calling('fresh'))).toMatchObject({ kind: 'protected', maxAgeMs: 5 });
  });
});
