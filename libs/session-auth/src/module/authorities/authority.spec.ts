import { describe, expect, it } from '@jest/globals';
import { Module, type DynamicModule } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import type { NestModule } from '../../guard/nest-container.js';
import { AUTHORITY, nameIn, authorityIn } from './authority.js';

@Module({})
class Root {}

/** The module of an application, as Nest stores it. */
async function moduleOf(definition: Omit<DynamicModule, 'module'>): Promise<NestModule> {
  const context = await NestFactory.createApplicationContext(
    { module: Root, ...definition },
    { logger: false },
  );
  await context.close();
  const module = [...context.get(ModulesContainer).values()].find(({ metatype }) => metatype === Root);
  if (!module) throw new Error('not found');
  return module;
}

describe('a module', () => {
  it.each([
    [{ name: 'partners' }, 'partners'],
    [{ name: 'default' }, undefined],
  ])('with the authority %j is one with the name %p', async (registration, name) => {
    const module = await moduleOf({ providers: [{ provide: AUTHORITY, useValue: registration }] });
    expect([authorityIn(module), nameIn(module)]).toEqual([registration, name]);
  });

  it('without an authority is none, and has no name', async () => {
    const module = await moduleOf({});
    expect([authorityIn(module), nameIn(module)]).toEqual([undefined, undefined]);
  });

  it('with the authority of another copy of this package is found', async () => {
    const registration = { name: 'partners' };
    const useValue = { provide: Symbol.for('nestjs-session-auth:registration'), useValue: registration };
    expect(nameIn(await moduleOf({ providers: [useValue] }))).toBe('partners');
  });
});
