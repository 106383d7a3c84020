import { expect, it } from '@jest/globals';
import { Get } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { runInThisContext } from 'node:vm';
import { auditedHandlersOf } from './audited-handlers.js';

class Base {
  @Get() list(): void {
    return undefined;
  }
}

it.each([
  ['constructor() { super(); this.list = this.list.bind(this) }', 'bound list'],
  ["constructor() { super(); this['list'] = this.list.bind(this) }", 'bound list'],
  ['other = 1\n list = this.list.bind(this)', 'bound list'],
  ['constructor() { super(); this.list = open }', ''],
  ["constructor() { super(); define(this, 'list', open) }", ''],
  ['list = async () => open', ''],
  ['list = (one) => open', ''],
  ['other() { let list; if (this.list === 1) list = this.list(); const x = { list }; }', 'list'],
])('the class that is created for each call with %j calls %j', (body, called) => {
  const metatype = (
    runInThisContext(`(Base) => class extends Base { ${body} }`) as (base: unknown) => object
  )(Base);
  const controller = { metatype, isDependencyTreeStatic: () => false };
  const module = { controllers: new Map([['', controller]]), providers: new Map(), injectables: new Map() };
  const placed = auditedHandlersOf(new Map([['', module]]) as unknown as ModulesContainer);
  expect(placed.map(({ handler }) => (handler.called as { name?: string }).name)).toEqual([called]);
});
