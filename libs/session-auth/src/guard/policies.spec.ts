import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { InvalidConfigurationError } from '../contract/errors.js';
import { AccessRules } from './access-metadata.js';
import { Authorize, FreshSession, Public } from './access.decorators.js';
import { meetsAll, type AccessRule } from './access-rule.js';
import type { AskPolicy, Policies } from './access-metadata.js';

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

function asked(policies: Policies | undefined): unknown {
  const rule = new AccessRules(policies).of(calling('byPolicy')) as AccessRule & { kind: 'protected' };
  expect(rule).toMatchObject({ kind: 'protected', maxAgeMs: 5 });
  return meetsAll({ requirements: rule.requirements, user, context, request: {}, timeoutMs: 60_000 });
}

describe('a policy', () => {
  it('decides for its controller, with the user and the call', () => {
    const seen: unknown[] = [];
    const decide = (result: boolean): Policies => ({
      find: (...parameters) => {
        seen.push(parameters);
        return (...call) => {
          seen.push(call);
          return result;
        };
      },
    });
    expect([asked(decide(true)), asked(decide(false))]).toEqual([
      true,
      { requirement: expect.objectContaining({ policy: Policy }) },
    ]);
    expect(seen.slice(0, 2)).toEqual([
      [Routes, Policy],
      [user, context, undefined],
    ]);
  });

  it.each<[string, Policies | undefined]>([
    ['there are none', undefined],
    ['it is not found', { find: () => undefined }],
  ])('can not be asked if %s', (_name, policies) => {
    expect(asked(policies)).toMatchObject({ failure: { error: expect.any(InvalidConfigurationError) } });
  });

  it('is found once', () => {
    let found = 0;
    const find = (): AskPolicy => {
      found += 1;
      return () => true;
    };
    const rule = new AccessRules({ find }).of(calling('byPolicy')) as AccessRule & { kind: 'protected' };
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
    const rules = new AccessRules({ find });
    expect(rules.of(calling('open'))).toEqual({ kind: 'public' });
    expect(rules.of(calling('fresh'))).toMatchObject({ kind: 'protected', maxAgeMs: 5 });
  });
});
