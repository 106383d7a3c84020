import { describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { CclInfo, UserRecord } from '../contract/record/user-record.js';
import { declarationOf } from './access-metadata.js';
import { Authorize, CclScope, FreshSession, RequireFlags, Roles, SubRoles } from './access.decorators.js';
import { meetsAll, type Requirement } from './access-rule.js';

type AnyDecorator = (...parameters: never[]) => ClassDecorator & MethodDecorator;

const userWith = (fields: object): UserRecord => Object.assign(new UserRecord(), fields);
const calling = (params: object): ExecutionContextHost => new ExecutionContextHost([{ params }, {}]);

function requirementsOf(decorator: ClassDecorator): readonly Requirement[] {
  class Controller {
    readonly name = 'controller';
  }
  decorator(Controller);
  return declarationOf(Controller).requirements;
}

/** Returns `false` if a requirement of the decorator is not met. */
const admits = (decorator: ClassDecorator, user: object, params: object = {}): unknown => {
  const requirements = requirementsOf(decorator);
  const context = calling(params);
  const met = meetsAll({ requirements, user: userWith(user), context, request: {}, timeoutMs: 60_000 });
  return 'requirement' in Object(met) && !('failure' in Object(met)) ? false : met;
};

describe.each([
  ['@Roles()', 'role', Roles('admin', 'owner')],
  ['@SubRoles()', 'sub_role', SubRoles('admin', 'owner')],
])('%s', (_name, field, decorator) => {
  it.each([
    ['admin', true],
    ['owner', true],
    ['guest', false],
    ['Admin', false],
    ['', false],
    ['undefined', false],
    [undefined, false],
  ])('with two names decides on %j: %j', (value, admitted) => {
    expect(admits(decorator, { [field]: value })).toBe(admitted);
  });
});

describe('@RequireFlags()', () => {
  const decorator = RequireFlags('is_admin' as never, 'is_owner' as never);

  it.each([
    [{ is_admin: true, is_owner: true }, true],
    [{ is_admin: true, is_owner: false }, false],
    [{ is_admin: false, is_owner: true }, false],
    [{ is_admin: 'true', is_owner: 1 }, false],
    [{}, false],
  ])('requires that each field is true: %j is %j', (user, admitted) => {
    expect(admits(decorator, user)).toBe(admitted);
  });
});

describe('@CclScope()', () => {
  const decorator = CclScope({ client_id: 'client', company_id: 'company' });
  const user = { ccl_info: Object.assign(new CclInfo(), { client_id: 7, company_id: 8 }) };

  it.each([
    [{ client: '7', company: '8' }, true],
    [{ client: 7, company: 8 }, true],
    [{ client: '7', company: '9' }, false],
    [{ client: '9', company: '8' }, false],
    [{ client: '07', company: '8' }, false],
    [{ client: '7.0', company: '8' }, false],
    [{ client: '7' }, false],
    [{ client: ['7'], company: '8' }, false],
    [{}, false],
  ])('requires that each parameter is the id of the user: %j is %j', (params, admitted) => {
    expect(admits(decorator, user, params)).toBe(admitted);
  });

  it.each([
    [{ ccl_info: new CclInfo() }, { client: undefined, company: undefined }],
    [{ ccl_info: new CclInfo() }, { client: 'undefined', company: 'undefined' }],
    [{}, { client: undefined, company: undefined }],
    [{}, { client: '7', company: '8' }],
  ])('refuses a user without ids: %j with %j', (withoutIds, params) => {
    expect(admits(decorator, withoutIds, params)).toBe(false);
  });

  it.each(['client_id', 'company_id', 'location_id'])('accepts %s', (id) => {
    expect(() => CclScope({ [id]: 'parameter' })).not.toThrow();
  });
});

describe('@Authorize()', () => {
  it('asks its rule with the user and the call', () => {
    const asked: unknown[] = [];
    const rule = (...args: unknown[]): boolean => asked.push(...args) > 0;
    const [user, context] = [userWith({ username: 'ann' }), calling({})];
    expect(
      meetsAll({
        requirements: requirementsOf(Authorize(rule)),
        user,
        context,
        request: {},
        timeoutMs: 60_000,
      }),
    ).toBe(true);
    expect(asked).toEqual([user, context]);
  });

  class Policy {
    allows(): boolean {
      return true;
    }
  }
  class Inherited extends Policy {}
  class Unfinished {
    readonly name = 'without allows()';
  }
  /** A class as TypeScript compiles it for ES5. */
  function Old(): void {
    return undefined;
  }
  Object.assign(Old.prototype as object, { allows: () => true });

  it.each([Policy, Inherited, Unfinished, Old as unknown as typeof Policy])(
    'leaves %p to an instance, and refuses every user until there is one',
    (policy) => {
      const requirements = requirementsOf(Authorize(policy as typeof Policy));
      expect(requirements).toMatchObject([{ kind: 'Authorize', policy }]);
      expect(admits(Authorize(policy as typeof Policy), {})).toBe(false);
    },
  );

  it.each([
    () => true,
    function named(): boolean {
      return true;
    },
    Object.assign(() => true, { prototype: undefined }),
    ...Object.values({
      classOf(): boolean {
        return true;
      },
    }),
  ])('takes %p for a rule', (rule) => {
    expect(requirementsOf(Authorize(rule))[0]?.policy).toBeUndefined();
  });

  it.each([undefined, null, 'rule', { allows: () => true }])('rejects %p', (rule) => {
    expect(() => Authorize(rule as never)).toThrow(InvalidConfigurationError);
  });
});

describe('@FreshSession()', () => {
  it.each([-1, 0.5, Number.NaN, Infinity, '5'])('rejects a maxAgeMs of %p', (maxAgeMs) => {
    expect(() => FreshSession({ maxAgeMs: maxAgeMs as number })).toThrow(InvalidConfigurationError);
  });

  it.each([
    [undefined, 0],
    [{}, 0],
    [{ maxAgeMs: 0 }, 0],
    [{ maxAgeMs: 1 }, 1],
  ])('with %j requires a session of at most %i ms', (options, maxAgeMs) => {
    expect(requirementsOf(FreshSession(options))).toMatchObject([{ kind: 'FreshSession', maxAgeMs }]);
  });
});

describe('a decorator with names', () => {
  it.each([
    ['@Roles()', Roles],
    ['@SubRoles()', SubRoles],
    ['@RequireFlags()', RequireFlags],
  ])('%s rejects no names, and anything but text that is not empty', (name, decorator: AnyDecorator) => {
    for (const names of [[], [''], ['a', ''], ['', 'a'], [7], ['a', undefined], [null], [[]], [[['a']]]]) {
      expect(() => decorator(...(names as never[]))).toThrow(InvalidConfigurationError);
      expect(() => decorator(...(names as never[]))).toThrow(`${name} needs`);
    }
  });

  it.each([
    {},
    { other_id: 'a' },
    { client_id: '' },
    { client_id: 7 },
    { client_id: 'a', other_id: 'b' },
    { client_id: undefined },
  ])('@CclScope() rejects %j', (parameters) => {
    expect(() => CclScope(parameters as never)).toThrow(InvalidConfigurationError);
  });
});

it('each requirement has the text of its decorator', () => {
  const own = (): boolean => true;
  class Policy {
    allows(): boolean {
      return true;
    }
  }
  const decorators = [
    Roles('a', 'b'),
    SubRoles('a'),
    RequireFlags('a' as never, 'b' as never),
    CclScope({ client_id: 'c', company_id: 'd' }),
    Authorize(own),
    Authorize(
      (
        () => () =>
          true
      )(),
    ),
    Authorize(Policy),
    FreshSession({ maxAgeMs: 5000 }),
  ];
  expect(decorators.flatMap(requirementsOf).map(({ kind, text }) => [kind, text])).toEqual([
    ['Roles', '@Roles(a, b)'],
    ['SubRoles', '@SubRoles(a)'],
    ['RequireFlags', '@RequireFlags(a, b)'],
    ['CclScope', '@CclScope(client_id: c, company_id: d)'],
    ['Authorize', '@Authorize(own)'],
    ['Authorize', '@Authorize(function)'],
    ['Authorize', '@Authorize(Policy)'],
    ['FreshSession', '@FreshSession(maxAgeMs: 5000)'],
  ]);
});
