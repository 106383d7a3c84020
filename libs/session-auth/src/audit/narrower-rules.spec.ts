import { expect, it } from '@jest/globals';
import {
  applyDecorators,
  Controller,
  type ExecutionContext,
  Get,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import * as fc from 'fast-check';
import * as access from '../guard/access.decorators.js';
import { isReportOnly } from '../guard/access-rule.js';
import { AccessRules } from '../guard/access-rules.js';
import { CurrentUser } from '../guard/current-user.decorator.js';
import { handlersIn } from '../guard/handlers.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { auditContextOf } from './audit-context.js';
import { auditedRuleOf } from './audited-handlers.js';
import { findingsOf } from './findings.js';

class OwnGuard extends SessionAuthGuard {}

type Decorator = ClassDecorator & MethodDecorator;
const policyOf = (level: number): access.AuthorizationRule =>
  Object.defineProperty(() => true, 'name', { value: String(level) });

/** Each names its level, so that the rule shows whose it is. */
const RULES = {
  Roles: (level: number) => access.Roles(String(level)),
  SubRoles: (level: number) => access.SubRoles(String(level)),
  RequireFlags: (level: number) => access.RequireFlags(String(level) as access.UserFlag),
  CclScope: (level: number) => access.CclScope({ client_id: String(level) }),
  Authorize: (level: number) => access.Authorize(policyOf(level)),
  FreshSession: (level: number) => access.FreshSession({ maxAgeMs: level }),
};
const MARKS = {
  public: access.Public,
  optional: access.OptionalAuth,
  reportOnly: access.ReportOnly,
  keepOpen: access.KeepOpen,
  guard: () => UseGuards(SessionAuthGuard),
  ownGuard: () => UseGuards(OwnGuard),
  ...RULES,
};
type Mark = keyof typeof MARKS;
const KINDS = Object.keys(RULES) as (keyof typeof RULES)[];

interface Tree {
  /** The handler, its class, and the classes that it extends. */
  readonly levels: readonly Mark[][];
  /** Of a handler of the last class that the first one overrides. */
  readonly overridden: Mark[] | undefined;
  readonly isApplied: boolean;
}

/** In any order of the decorators. Few of them, so that no level decides each time. */
const level = fc
  .shuffledSubarray(Object.keys(MARKS) as Mark[], { maxLength: 3 })
  .filter((marks) => !marks.includes('public') || !marks.includes('optional'));
const trees: fc.Arbitrary<Tree> = fc.record({
  levels: fc.tuple(level, level, level, level),
  overridden: fc.option(level, { nil: undefined }),
  isApplied: fc.boolean(),
});

function controllerOf({ levels: [handler = [], ...classes], overridden, isApplied }: Tree): Type {
  const decoratorsOf = (marks: Mark[], at: number): Decorator[] => marks.map((mark) => MARKS[mark](at));
  const onClass = (target: Type, marks: Mark[], at: number): void => {
    const decorators = decoratorsOf(marks, at);
    if (isApplied) applyDecorators(...decorators)(target);
    else for (const decorator of decorators) decorator(target);
  };
  const onHandler = ({ prototype }: Type, marks: Mark[]): void => {
    const descriptor = { configurable: true, value: (): string => 'in' };
    Object.defineProperty(prototype, 'handle', descriptor);
    const decorators = [...decoratorsOf(marks, 0), Get() as Decorator];
    for (const decorator of isApplied ? [applyDecorators(...decorators)] : decorators)
      decorator(prototype as object, 'handle', descriptor);
    CurrentUser()(prototype as object, 'handle', 0);
  };
  /** As a mixin does, each class is made by a function. */
  const extending = (base: Type): Type => class extends base {};
  const root = extending(Object);
  onHandler(root, overridden ?? handler);
  let owner = root;
  for (let at = classes.length; at > 0; at -= 1) {
    owner = extending(owner);
    onClass(owner, classes[at - 1] ?? [], at);
  }
  if (overridden) onHandler(owner, handler);
  Controller()(owner);
  return owner;
}

/** The rules in plain words: the narrower level wins, and any doubt closes. */
function expected({ levels }: Tree): { kind: string; isReported: boolean; rules: string[] } {
  const [handler = [], ...classes] = levels;
  const named = KINDS.map((kind) => [kind, levels.findIndex((marks) => marks.includes(kind))] as const);
  const rules = named.flatMap(([kind, at]) => (at === -1 ? [] : `${kind} of ${at}`)).sort();
  const has = (marks: Mark[], ...some: Mark[]): boolean => some.some((mark) => marks.includes(mark));
  const deciding = levels.find((marks) => marks.some((mark) => mark !== 'keepOpen'));
  const isReported = deciding?.includes('reportOnly') === true;
  const closed = { kind: 'protected', isReported, rules };
  if (has(handler, ...KINDS)) return closed;
  if (has(handler, 'optional')) return { kind: 'optional', isReported, rules: [] };
  if (has(handler, 'public')) return { kind: 'public', isReported: false, rules: [] };
  const at = classes.findIndex((marks) => has(marks, 'public', 'optional'));
  if (at === -1 || classes.some((marks) => has(marks, ...KINDS))) return closed;
  if (classes[at]?.includes('optional')) return { kind: 'optional', isReported, rules: [] };
  const isNarrowed = [handler, ...classes.slice(0, at)].some((marks) => has(marks, 'guard', 'ownGuard'));
  return isNarrowed ? closed : { kind: 'public', isReported: false, rules: [] };
}

const CONTEXT = auditContextOf(new ModulesContainer(), new ApplicationConfig(), undefined);

it('the guard and the audit agree which of the rules of a handler, its class and their bases is narrower [P45] [P61]', () => {
  fc.assert(
    fc.property(trees, (tree) => {
      const owner = controllerOf(tree);
      const handlers = handlersIn(owner);
      const [handler] = handlers as [(typeof handlers)[0]];
      const context = { getClass: () => owner, getHandler: () => handler.called };
      const found = findingsOf({ ...CONTEXT, handlers }).some(({ text }) =>
        text.includes('@CurrentUser(), which is always undefined'),
      );
      const plain = expected(tree);
      for (const rule of [
        new AccessRules().of(context as unknown as ExecutionContext),
        auditedRuleOf(handler),
      ]) {
        const rules = rule.kind === 'public' ? [] : rule.requirements;
        expect({
          kind: rule.kind,
          isReported: isReportOnly(rule),
          rules: rules.map(({ kind, text }) => `${kind} of ${/\d/.exec(text)?.[0]}`).sort(),
        }).toEqual(plain);
      }
      const guarding: Mark[] = ['optional', 'guard', 'ownGuard', ...KINDS];
      const isGuarded = tree.levels.some((marks) => marks.some((mark) => guarding.includes(mark)));
      expect(found).toBe(!isGuarded || plain.kind === 'public');
    }),
    { numRuns: 1_000 },
  );
});
