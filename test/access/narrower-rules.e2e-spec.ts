import { describe, expect, it } from '@jest/globals';
import { applyDecorators, Controller, Get, type Type, UseGuards } from '@nestjs/common';
import { OptionalAuth, Public, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { ReportOnly } from 'nestjs-session-auth/diagnostics';
import { accessMapOf } from 'nestjs-session-auth/testing';
import * as fc from 'fast-check';
import { PLATFORMS, startApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

const MARKS = {
  public: Public,
  optional: OptionalAuth,
  reportOnly: ReportOnly,
  guard: () => UseGuards(SessionAuthGuard),
  roles: () => Roles('boss'),
};
type Mark = keyof typeof MARKS;

/** The decorators of a handler, its class, and the classes that it extends, in this order. */
type Levels = readonly [handler: Mark[], ...classes: Mark[][]];

/** In any order of the decorators. */
const level = fc
  .shuffledSubarray<Mark>(['public', 'optional', 'reportOnly', 'guard', 'roles'])
  .filter((marks) => !marks.includes('public') || !marks.includes('optional'));
const levels = fc.tuple(level, level, level, level) as fc.Arbitrary<Levels>;

const decorate = (marks: Mark[]): ClassDecorator & MethodDecorator =>
  applyDecorators(...marks.map((mark) => MARKS[mark]()));

/** The handler is a method of the last class, which the others extend, unless the first overrides it. */
function controllerOf([handler, ...classes]: Levels, index: number, overrides: boolean): Type {
  class Base {
    handle(): string {
      return 'in';
    }
  }
  let owner: Type = Base;
  for (const marks of classes.toReversed()) {
    owner = class extends owner {};
    decorate(marks)(owner);
  }
  if (overrides)
    Object.defineProperty(owner.prototype, 'handle', { configurable: true, value: (): string => 'in' });
  const home = (overrides ? owner : Base).prototype as object;
  const method = { value: Reflect.get(home, 'handle') as () => string };
  applyDecorators(Get(), decorate(handler))(home, 'handle', method);
  Controller(`c${index}`)(owner);
  return owner;
}

const GUARDING: readonly Mark[] = ['optional', 'guard', 'roles'];
const guards = (marks: Mark[] | undefined): boolean => GUARDING.some((mark) => marks?.includes(mark));

/** The rules in plain words: who narrows a level wins, and any doubt closes. */
function isOpen([handler, ...classes]: Levels, isProtected: boolean): boolean {
  const all = [handler, ...classes];
  const deciding = all.find((marks) => marks.length > 0);
  const opening = classes.findIndex((marks) => marks.includes('public') || marks.includes('optional'));
  const isNarrowed = guards(handler) || classes.slice(0, opening).some(guards);
  if (!isProtected && !all.some(guards)) return true;
  if (deciding?.includes('reportOnly')) return true;
  if (handler.includes('roles')) return false;
  if (handler.includes('public') || handler.includes('optional')) return true;
  if (opening === -1 || classes.some((marks) => marks.includes('roles'))) return false;
  return classes[opening]?.includes('optional') === true || !isNarrowed;
}

describe.each(PLATFORMS)('of the rules of a handler, its class and their bases, on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each([false, true])(
    'the narrowest decides, with protectAllRoutes: %p: for the guard, and in the access map [P45] [P61]',
    async (protectAllRoutes) => {
      const service = await bed.service();
      const drawn = fc.sample(fc.tuple(levels, fc.boolean()), 150);
      const controllers = drawn.map(([tree, overrides], index) => controllerOf(tree, index, overrides));
      const running = await startApp(
        platform,
        sampleApp({ baseUrl: service.url, options: { protectAllRoutes }, controllers }),
      );
      const seen = await Promise.all(
        drawn.map(async ([tree], index) => [tree, (await running.get(`/c${index}`)).status === 200]),
      );
      const mapped = new Map(accessMapOf(running.app).map(({ call, isOpen: open }) => [call, open]));
      await running.close();

      const expected = drawn.map(([tree]) => [tree, isOpen(tree, protectAllRoutes)]);
      expect(seen).toEqual(expected);
      expect(drawn.map(([tree], index) => [tree, mapped.get(`GET /c${index}`)])).toEqual(expected);
    },
  );
});
