import { Controller, type ExecutionContext, type Type } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { InvalidConfigurationError } from '../contract/errors.js';
import { Authorize, Public } from './access.decorators.js';
import { meetsAll, type CheckedRule } from './access-rule.js';
import { AccessRules, type FindPolicy } from './access-rules.js';

@Controller()
class Plain {}
@Public()
class Open {}

const calling = (controller: Type, handler: () => void): ExecutionContext =>
  ({ getClass: () => controller, getHandler: () => handler }) as unknown as ExecutionContext;

describe('the rule of a handler', () => {
  it('is resolved once for each controller that has the handler, and cached', () => {
    const rules = new AccessRules();
    const handler = (): void => undefined;
    const [plain, open] = [rules.of(calling(Plain, handler)), rules.of(calling(Open, handler))];

    expect([plain.kind, open.kind]).toEqual(['protected', 'public']);
    expect(rules.of(calling(Plain, handler))).toBe(plain);
    expect(rules.of(calling(Open, handler))).toBe(open);
  });

  it('is that of the method, if a constructor has bound it, and that of any other function as it is', () => {
    class Routes {
      @Public() open(): void {
        return undefined;
      }
    }
    const routes = new Routes();
    const boundTwice = routes.open.bind(routes).bind(routes);
    const unknown = Object.defineProperty(() => undefined, 'name', { value: 'bound other' });
    const handlers = [routes.open.bind(routes), boundTwice, unknown, () => undefined];
    const rules = new AccessRules();
    const kinds = handlers.map((handler) => rules.of(calling(Routes, handler)).kind);
    expect(kinds).toEqual(['public', 'protected', 'protected', 'protected']);
  });
});

class Policy {
  allows(): boolean {
    return true;
  }
}

class Routes {
  @Authorize(Policy) byPolicy(): string {
    return 'by policy';
  }
}

const { byPolicy } = Routes.prototype as unknown as Readonly<Record<keyof Routes, () => void>>;
const context = {} as ExecutionContext;
const user = { username: 'ann' };
const met = ({ requirements }: CheckedRule): unknown =>
  meetsAll({ requirements, user, context, request: {}, timeoutMs: 60_000 });

const ruleWith = (findPolicy: FindPolicy | undefined): CheckedRule =>
  Object.assign(new AccessRules(), { findPolicy }).of(calling(Routes, byPolicy)) as CheckedRule;
const asked = (findPolicy: FindPolicy | undefined): unknown => met(ruleWith(findPolicy));

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
});
