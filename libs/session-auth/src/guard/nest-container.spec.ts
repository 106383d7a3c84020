import { describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Module } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { dependenciesOf } from './nest-container.js';

@Injectable()
class Plain {
  readonly kind = 'plain';
}
@Injectable()
class Other {
  readonly kind = 'other';
}
@Injectable()
class Injecting {
  @Inject(Other)
  declare readonly other: Other;
  constructor(readonly plain: Plain) {}
}
@Module({ providers: [Plain, Other, Injecting, { provide: 'value', useValue: 1 }] })
class Root {}

describe('the dependencies of a provider', () => {
  it.each<[string, unknown, unknown[]]>([
    ['a class are those of its constructor, then those of its properties', Injecting, [Plain, Other]],
    ['a class that injects nothing are none', Plain, []],
    ['a value are none', 'value', []],
  ])('that is %s', async (_which, token, expected) => {
    const modules = (
      await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false })
    ).get(ModulesContainer);
    const wrapper = [...modules.values()]
      .find(({ metatype }) => metatype === Root)
      ?.providers.get(token as string);
    expect(wrapper && dependenciesOf(wrapper).map((dependency) => dependency?.token)).toStrictEqual(expected);
  });
});
