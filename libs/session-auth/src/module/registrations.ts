import 'reflect-metadata';
import type { DynamicModule } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import {
  GUARD_REGISTRATION,
  type GuardRegistration,
  isRegistration,
  type Registrations,
} from '../guard/guard-registration.js';
import { type Placed, placedHandlersOf } from '../guard/handlers.js';
import type { NestModule } from '../guard/nest-container.js';
import { extrasOf, MODULE_OPTIONS_TOKEN, EXTRAS_OF_REGISTRATION } from './module-definition.js';

/** A registration that a module is given. */
interface Given {
  readonly registration: NestModule;
  /** The module that imports it: the same one, or one that exports it again. */
  readonly importer: NestModule;
}

const ONE_EACH = 'A handler has exactly one.';

/**
 * The registrations of an application that has several. Each handler has exactly one: that which its module
 * imports or gets by re-exports, or else that for the whole application.
 */
export class ModuleRegistrations implements Registrations {
  readonly #modules: ModulesContainer;
  readonly #whole: NestModule | undefined;
  /** By class of a handler. Without a value: it has none, or several. */
  readonly #ofClass = new WeakMap<object, NestModule | undefined>();

  /** @throws InvalidConfigurationError if a handler, or the whole application, has several */
  constructor(modules: ModulesContainer) {
    this.#modules = modules;
    this.#whole = forWholeApplication(modules);
    for (const module of modules.values()) {
      const own = [...givenTo(module)].filter(({ importer }) => importer === module);
      rejectSeveral(module, own);
    }
    this.check(placedHandlersOf(modules));
  }

  check(placed: readonly Placed[]): void {
    const modulesOf = new Map<object, Set<NestModule>>();
    for (const { module, handler } of placed)
      modulesOf.set(handler.owner, (modulesOf.get(handler.owner) ?? new Set()).add(module));
    for (const [owner, modules] of modulesOf) {
      for (const module of modules) rejectSeveral(module, givenTo(module));
      const found = this.#in(modules);
      if (found.size > 1) rejectShared(owner as { readonly name: string }, modules);
      this.#ofClass.set(owner, [...found][0]);
    }
  }

  registrationOf(owner: object): GuardRegistration | undefined {
    if (!this.#ofClass.has(owner)) this.#ofClass.set(owner, this.#find(owner));
    return this.#ofClass.get(owner)?.providers.get(GUARD_REGISTRATION)?.instance as
      | GuardRegistration
      | undefined;
  }

  /** For a class of a module that was loaded later, or of a value that a factory provides. */
  #find(owner: object): NestModule | undefined {
    const holders = [...this.#modules.values()].filter(({ controllers, providers }) =>
      [...controllers.values(), ...providers.values()].some(
        ({ metatype, instance }) =>
          metatype === owner || (instance as object | null | undefined)?.constructor === owner,
      ),
    );
    const [registration, ...others] = holders.length === 0 ? [this.#whole] : this.#in(holders);
    return others.length === 0 ? registration : undefined;
  }

  /** Returns those of the handlers of modules. */
  #in(modules: Iterable<NestModule>): Set<NestModule> {
    const found = [...modules].flatMap((module) => {
      const given = givenTo(module).map(({ registration }) => registration);
      return given.length > 0 ? given : (this.#whole ?? []);
    });
    return new Set(found);
  }
}

/**
 * Nest would give each module the guard and the service of one of them, by the order of imports.
 * @throws InvalidConfigurationError
 */
function forWholeApplication(modules: ModulesContainer): NestModule | undefined {
  const all = [...modules.values()];
  const whole = new Set([
    ...all.filter(
      (module) => isRegistration(module) && (module.isGlobal || extrasOf(module)?.protectAllRoutes),
    ),
    ...all.filter(({ isGlobal }) => isGlobal).flatMap((module) => exportedBy(module)),
  ]);
  if (whole.size > 1)
    throw new InvalidConfigurationError(
      'SessionAuthModule is registered more than once for the whole application. Call forRoot() or forRootAsync() once, in the root module: other modules need no import. For several session services, set isGlobal: false in each but one, without protectAllRoutes, and import each in its own modules.',
    );
  return [...whole][0];
}

const exportedBy = (module: NestModule): NestModule[] =>
  givenTo(module, true).map(({ registration }) => registration);

/**
 * Returns what Nest may give a module, each once: all that it imports, and what those export again.
 * @param isExported whether to leave out what the module itself does not export
 */
function givenTo(module: NestModule, isExported = false): Given[] {
  const given: Given[] = [];
  const visited = new Set<NestModule>();
  const visit = (importer: NestModule, onlyExported: boolean): void => {
    for (const imported of importer.imports) {
      if (visited.has(imported) || (onlyExported && !importer.exports.has(imported.metatype))) continue;
      if (imported.isGlobal && !names(importer, imported)) continue;
      visited.add(imported);
      if (isRegistration(imported)) given.push({ registration: imported, importer });
      else visit(imported, true);
    }
  };
  visit(module, isExported);
  return given;
}

interface Container {
  getDynamicMetadataByToken(token: string, key: 'imports'): readonly unknown[];
}

/** Returns whether a module imports a global one itself: Nest adds each to the imports of every module. */
function names(importer: NestModule, imported: NestModule): boolean {
  const { container } = importer as unknown as { readonly container: Container };
  const declared = [
    ...((Reflect.getMetadata('imports', importer.metatype) ?? []) as unknown[]),
    ...container.getDynamicMetadataByToken(importer.token, 'imports'),
  ];
  return declared.some((each) => {
    const { forwardRef } = each as { readonly forwardRef?: () => unknown };
    const entry = forwardRef ? forwardRef() : each;
    const { module = entry, providers = [] } = entry as Partial<DynamicModule>;
    const own = providers.find(
      (provider) => (provider as { provide?: unknown }).provide === EXTRAS_OF_REGISTRATION,
    );
    const extras = (own as { readonly useValue?: unknown } | undefined)?.useValue;
    return module === imported.metatype && extras === extrasOf(imported);
  });
}

function rejectSeveral({ metatype }: NestModule, [first, second]: readonly Given[]): void {
  if (!first || !second) return;
  throw new InvalidConfigurationError(
    `${metatype.name} has two registrations of SessionAuthModule: ${named(first)}, and ${named(second)}. ${ONE_EACH} Import one, take SessionAuthModule out of the exports of the other module, or declare the handlers in a module of their own.`,
  );
}

function rejectShared({ name }: { readonly name: string }, modules: Iterable<NestModule>): never {
  const places = [...modules];
  const theirs = places.map((module) => {
    const [given] = givenTo(module);
    return given ? named(given) : 'the global one';
  });
  throw new InvalidConfigurationError(
    `${name} is in ${places.map(({ metatype }) => metatype.name).join(' and ')}, which have different registrations of SessionAuthModule: ${theirs.join(', and ')}. ${ONE_EACH} Give each module a subclass of it, or declare it in one of them.`,
  );
}

/** As in `that which AppModule imports, of sessions.example.com`: the address is not known yet with a factory. */
function named({ registration, importer }: Given): string {
  const { baseUrl } = (registration.providers.get(MODULE_OPTIONS_TOKEN)?.instance ?? {}) as {
    readonly baseUrl?: unknown;
  };
  const address = String(baseUrl);
  const host = URL.canParse(address) ? `, of ${new URL(address).host}` : '';
  return `that which ${importer.metatype.name} imports${host}`;
}
