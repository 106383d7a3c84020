import { describe, expect, it } from '@jest/globals';
import type { ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import { rejectMissingModule } from './guard-registration.js';

class Guard {
  readonly kind = 'guard';
}
/** Injection token of what the module provides, in any copy of this package. */
const REGISTRATION = Symbol.for('nestjs-session-auth:guard-registration');

interface Module {
  readonly metatype: { readonly name: string };
  readonly injectables: ReadonlyMap<unknown, unknown>;
  readonly providers: ReadonlyMap<unknown, unknown>;
  readonly imports: ReadonlySet<Module>;
  readonly exports: ReadonlySet<unknown>;
}

const names = (...list: unknown[]): ReadonlyMap<unknown, unknown> => new Map(list.map((name) => [name, {}]));

/** A module of Nest, with some names in its lists. */
function moduleOf(
  name: string,
  lists: { injectables?: unknown[]; providers?: unknown[]; imports?: Module[]; exports?: unknown[] },
): Module {
  const { injectables = [], providers = [], imports = [], exports = [] } = lists;
  return {
    metatype: { name },
    injectables: names(...injectables),
    providers: names(...providers),
    imports: new Set(imports),
    exports: new Set(exports),
  };
}

function rejection(...modules: Module[]): () => never {
  const container = new Map(modules.map((module, index) => [String(index), module]));
  return () => rejectMissingModule(Guard, container as unknown as ModulesContainer);
}

const FORGETFUL = moduleOf('NamesModule', { injectables: [Guard] });

describe('a guard without SessionAuthModule', () => {
  it.each<[string, Module[], RegExp]>([
    ['as an enhancer', [moduleOf('RootModule', {}), FORGETFUL], /^NamesModule has/],
    ['as a provider', [moduleOf('NamesModule', { providers: [Guard] })], /^NamesModule has/],
    [
      'in two modules',
      [FORGETFUL, moduleOf('OtherModule', { providers: [Guard] })],
      /^NamesModule, OtherModule has/,
    ],
    ['in no module', [moduleOf('RootModule', {})], /^A module has/],
  ])('is rejected with the names of the modules that use it: %s', (_case, modules, message) => {
    expect(rejection(...modules)).toThrow(InvalidConfigurationError);
    expect(rejection(...modules)).toThrow(message);
  });

  it('is not reported for a module that has its parts, or imports them', () => {
    const auth = moduleOf('AuthModule', { providers: [REGISTRATION, Guard], exports: [REGISTRATION] });
    const importing = moduleOf('ImportingModule', {
      injectables: [Guard],
      imports: [moduleOf('RootModule', {}), auth],
    });
    const reaching = moduleOf('UnrelatedModule', {
      injectables: [Guard],
      imports: [moduleOf('RootModule', {})],
    });
    expect(rejection(auth, importing, FORGETFUL, reaching)).toThrow(/^NamesModule, UnrelatedModule has/);
  });

  it('is rejected without the modules of Nest too', () => {
    expect(() => rejectMissingModule(Guard, undefined)).toThrow(/^A module has/);
  });
});
