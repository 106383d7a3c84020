import { describe, expect, it } from '@jest/globals';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { ApplicationGuardsProxy, guardEveryHandler } from './application-guards.js';

const callOf = (kind: string) =>
  ({ getType: () => kind, getHandler: () => callOf }) as unknown as ExecutionContext;
const context = callOf('rpc');

class DecidingGuard extends SessionAuthGuard {
  static deciding(...results: unknown[]): DecidingGuard {
    const guard = Object.create(DecidingGuard.prototype) as { canActivate: () => unknown; calls: number };
    guard.calls = 0;
    guard.canActivate = () => results[Math.min(guard.calls++, results.length - 1)];
    return guard as unknown as DecidingGuard;
  }
  readonly calls!: number;
}

class OtherGuard implements CanActivate {
  canActivate(): never {
    throw new Error('a guard of the application is called by Nest alone');
  }
}

function guardsOf(
  guards: readonly CanActivate[],
  requestGuards: readonly unknown[] = [],
  requestScoped = DecidingGuard.deciding(true),
) {
  const config = new ApplicationConfig();
  config.useGlobalGuards(...guards);
  for (const metatype of requestGuards)
    config.addGlobalRequestGuard(new InstanceWrapper({ metatype: metatype as never }));
  const modules = new ModulesContainer();
  guardEveryHandler(modules, config, requestScoped);
  return { config, guards: new ApplicationGuardsProxy(modules) };
}

const later = (result: unknown): unknown => Promise.resolve(result);

describe('the session guards of the application', () => {
  it.each<[string, boolean, unknown[]]>([
    ['none', true, []],
    ['one that returns anything else', false, ['yes']],
    ['one that returns anything else later', false, [later('yes')]],
    ['one that denies after one that admits', false, [true, false]],
    ['one that denies after one that admits later', false, [later(true), false]],
    ['three that admit', true, [later(true), true, later(true)]],
  ])('admit a call if each admits it: %s, %j', async (_name, expected, results) => {
    const { guards } = guardsOf(results.map((result) => DecidingGuard.deciding(result)));
    expect(await guards.canActivate(context)).toBe(expected);
  });

  it('are called until one denies', async () => {
    const all = [[later(true)], [later(false)], [true]].map((result) => DecidingGuard.deciding(...result));
    await guardsOf(all).guards.canActivate(context);
    expect(all.map(({ calls }) => calls)).toEqual([1, 1, 0]);
  });

  it('decide without a promise if all do', () => {
    for (const result of [true, false])
      expect(guardsOf([DecidingGuard.deciding(result)]).guards.canActivate(context)).toBe(result);
  });

  it('are not asked again about a route of the same class', () => {
    const { guards } = guardsOf([DecidingGuard.deciding(false)]);
    const answers = ['http', 'rpc', 'ws'].map((kind) => guards.canActivate(callOf(kind)));
    expect(answers).toEqual([true, false, false]);
  });

  it('are those of this package only', () => {
    expect(guardsOf([new OtherGuard(), DecidingGuard.deciding(true)]).guards.canActivate(context)).toBe(true);
  });

  it('include one of request scope, which needs no instance per request', () => {
    const denying = DecidingGuard.deciding(false);
    const answers = [
      guardsOf([], [OtherGuard, SessionAuthGuard], denying),
      guardsOf([DecidingGuard.deciding(true)], [SessionAuthGuard], denying),
      guardsOf([], [OtherGuard], denying),
    ].map(({ guards }) => guards.canActivate(context));
    expect(answers).toEqual([false, false, true]);
  });

  it('include those that the application adds after the first call', () => {
    const { config, guards } = guardsOf([]);
    expect(guards.canActivate(context)).toBe(true);
    config.useGlobalGuards(DecidingGuard.deciding(false));
    expect([guards.canActivate(context), guards.canActivate(context)]).toEqual([false, false]);
  });
});
