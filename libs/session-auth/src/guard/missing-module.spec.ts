import { describe, expect, it } from '@jest/globals';
import type { ModulesContainer } from '@nestjs/core';
import { rejectMissingModule } from './guard-registration.js';

class Guard {
  readonly kind = 'guard';
}
/** Injection token of what the module provides, in any copy of this package. */
const REGISTRATION = Symbol.for('nestjs-session-auth:guard-registration');

type Lists = Partial<Record<'injectables' | 'providers' | 'imports' | 'exports', unknown[]>>;

/** The parts of a module of Nest that are read, with some names in its lists. */
const moduleOf = (name: string, { injectables, providers, imports, exports }: Lists): object => ({
  metatype: { name },
  ...{ injectables: new Set(injectables), providers: new Set(providers) },
  ...{ imports: new Set(imports), exports: new Set(exports) },
});

const rejection = (...modules: object[]) => {
  const container = new Map(modules.entries());
  return () => rejectMissingModule(Guard, container as unknown as ModulesContainer);
};

const FORGETFUL = moduleOf('NamesModule', { injectables: [Guard] });

describe('a guard without SessionAuthModule', () => {
  it('is rejected with the names of the modules that use it, as an enhancer or a provider', () => {
    const other = moduleOf('OtherModule', { providers: [Guard] });
    expect(rejection(moduleOf('RootModule', {}), FORGETFUL, other)).toThrow(/^NamesModule, OtherModule has/);
    expect(rejection(moduleOf('RootModule', {}))).toThrow(/^A module has/);
    expect(() => rejectMissingModule(Guard, undefined)).toThrow(/^A module has/);
  });

  it('is not reported for a module that has its parts, or imports them', () => {
    const auth = moduleOf('AuthModule', { providers: [REGISTRATION, Guard], exports: [REGISTRATION] });
    const root = moduleOf('RootModule', {});
    const importing = moduleOf('ImportingModule', { injectables: [Guard], imports: [root, auth] });
    const unrelated = moduleOf('UnrelatedModule', { injectables: [Guard], imports: [root] });
    expect(rejection(auth, importing, FORGETFUL, unrelated)).toThrow(/^NamesModule, UnrelatedModule has/);
  });
});
