import { Controller, type ExecutionContext, type Type } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { Public } from './access.decorators.js';
import { AccessRules } from './access-rules.js';

@Controller()
class Plain {}
@Public()
class Open {}
class DescendantOfOpen extends Open {}

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

  it('is inherited from the class that its controller extends', () => {
    expect(new AccessRules().of(calling(DescendantOfOpen, () => undefined))).toEqual({ kind: 'public' });
  });

  it('is that of the method, if a constructor has bound it, and that of any other function as it is', () => {
    class Routes {
      @Public()
      open(): void {
        return undefined;
      }
      plain(): void {
        return undefined;
      }
    }
    const routes = new Routes();
    const boundTwice = routes.open.bind(routes).bind(routes);
    const unknown = Object.defineProperty(() => undefined, 'name', { value: 'bound other' });
    const handlers = [
      routes.open.bind(routes),
      routes.plain.bind(routes),
      boundTwice,
      unknown,
      () => undefined,
    ];
    const rules = new AccessRules();
    const kinds = handlers.map((handler) => rules.of(calling(Routes, handler)).kind);
    expect(kinds).toEqual(['public', 'protected', 'protected', 'protected', 'protected']);
  });
});
