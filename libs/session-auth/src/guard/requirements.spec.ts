import { describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { CclInfo, UserRecord } from '../contract/record/user-record.js';
import { declarationOf } from './access-metadata.js';
import { Authorize, CclScope, FreshSession, RequireFlags, Roles, SubRoles } from './access.decorators.js';
import { meetsAll, type Requirement } from './access-rule.js';

type AnyDecorator = (...parameters: never[]) => ClassDecorator & MethodDecorator;

function requirementsOf(decorator: ClassDecorator): readonly Requirement[] {
  class Controller {
    readonly name = 'controller';
  }
  decorator(Controller);
  return declarationOf(Controller).requirements;
}

/** Returns `false` if a requirement of the decorator is not met. */
const admits = (decorator: ClassDecorator, fields: object, params: object = {}): unknown => {
  const requirements = requirementsOf(decorator);
  const user = Object.assign(new UserRecord(), fields);
  const context = new ExecutionContextHost([{ params }, {}]);
  const met = meetsAll({ requirements, user, context, request: {}, timeoutMs: 60_000 });
  return 'requirement' in Object(met) && !('failure' in Object(met)) ? false : met;
};

describe.each([
  ['@Roles()', 'role', Roles('admin', 'owner')],
  ['@SubRoles()', 'sub_role', SubRoles(['admin'] as const, 'owner')],
])('%s', (_name, field, decorator) => {
  it.each([
    ['admin', true],
    ['owner', true],
    ['Admin', false],
    ['admin,owner', false],
    ['undefined', false],
    [undefined, false],
  ])('with two names, of which one may be in a list, decides on %j: %j', (value, admitted) => {
    expect(admits(decorator, { [field]: value })).toBe(admitted);
  });
});

it.each([
  [{ is_admin: true, is_owner: true }, true],
  [{ is_admin: true, is_owner: false }, false],
  [{ is_admin: 'true', is_owner: 1 }, false],
  [{}, false],
])('@RequireFlags() requires that each field is true: %j is %j', (user, admitted) => {
  expect(admits(RequireFlags('is_admin' as never, 'is_owner' as never), user)).toBe(admitted);
});

describe('@CclScope()', () => {
  const decorator = CclScope({ client_id: 'client', company_id: 'company' });
  const user = { ccl_info: Object.assign(new CclInfo(), { client_id: 7, company_id: 8 }) };
  const unknown = { client: undefined, company: undefined };

  it.each([
    [user, { client: '7', company: '8' }, true],
    [user, { client: 7, company: 8 }, true],
    [user, { client: '7', company: '9' }, false],
    [user, { client: '07', company: '8' }, false],
    [user, { client: '7' }, false],
    [user, { client: ['7'], company: '8' }, false],
    [{ ccl_info: new CclInfo() }, unknown, false],
    [{ ccl_info: new CclInfo() }, { client: 'undefined', company: 'undefined' }, false],
    [{}, unknown, false],
  ])('requires that each parameter is the id of the user: %j with %j is %j', (fields, params, admitted) => {
    expect(admits(decorator, fields, params)).toBe(admitted);
  });

  it.each([
    {},
    { other_id: 'a' },
    { client_id: '' },
    { client_id: 7 },
    { client_id: 'a', other_id: 'b' },
    { client_id: undefined },
  ])('rejects %j', (parameters) => {
    expect(() => CclScope(parameters as never)).toThrow(InvalidConfigurationError);
  });
});

class Policy {
  allows(): boolean {
    return true;
  }
}

describe('@Authorize()', () => {
  class Unfinished {
    readonly name = 'without allows()';
  }
  /** A class as TypeScript compiles it for ES5. */
  function Old(): void {
    return undefined;
  }
  Object.assign(Old.prototype as object, { allows: () => true });

  it.each([Policy, Unfinished, Old as unknown as typeof Policy])(
    'leaves %p to an instance, and refuses every user until there is one',
    (policy) => {
      const decorator = Authorize(policy as typeof Policy);
      expect(requirementsOf(decorator)).toMatchObject([{ kind: 'Authorize', policy }]);
      expect(admits(decorator, {})).toBe(false);
    },
  );

  it('takes any other function for a rule, also one that may be a constructor', () => {
    function rule(): boolean {
      return true;
    }
    expect(admits(Authorize(rule), {})).toBe(true);
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
    [{ maxAgeMs: 1 }, 1],
  ])('with %j requires a session of at most %i ms', (options, maxAgeMs) => {
    expect(requirementsOf(FreshSession(options))).toMatchObject([{ kind: 'FreshSession', maxAgeMs }]);
  });
});

it.each([
  ['@Roles()', Roles],
  ['@SubRoles()', SubRoles],
  ['@RequireFlags()', RequireFlags],
])(
  '%s without a name, or with anything but text that is not empty, is an error before the application starts [J04]',
  (name, decorator: AnyDecorator) => {
    for (const names of [[], [''], ['a', ''], [7], ['a', undefined], [null], [[]], [[['a']]]]) {
      expect(() => decorator(...(names as never[]))).toThrow(InvalidConfigurationError);
      expect(() => decorator(...(names as never[]))).toThrow(`${name} needs`);
    }
  },
);

it('each requirement has the text of its decorator', () => {
  const own = (): boolean => true;
  const [unnamed] = [() => true];
  const decorators = [
    Roles('a', 'b'),
    SubRoles('a'),
    RequireFlags('a' as never, 'b' as never),
    CclScope({ client_id: 'c', company_id: 'd', location_id: 'e' }),
    ...[Authorize(own), Authorize(unnamed), Authorize(Policy)],
    FreshSession({ maxAgeMs: 5000 }),
  ];
  expect(decorators.flatMap(requirementsOf).map(({ kind, text }) => [kind, text])).toEqual([
    ['Roles', '@Roles(a, b)'],
    ['SubRoles', '@SubRoles(a)'],
    ['RequireFlags', '@RequireFlags(a, b)'],
    ['CclScope', '@CclScope(client_id: c, company_id: d, location_id: e)'],
    ['Authorize', '@Authorize(own)'],
    ['Authorize', '@Authorize(function)'],
    ['Authorize', '@Authorize(Policy)'],
    ['FreshSession', '@FreshSession(maxAgeMs: 5000)'],
  ]);
});
