import { type ExecutionContext, Scope, type Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import { isThenable } from '../contract/late-results.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { isClassWith } from '../guard/is-class.js';
import type { Requirement, RuledCall } from '../guard/access-rule.js';
import type { LoadUser, UserLoader } from '../guard/current-user.decorator.js';
import { contextIdOf } from './policies.js';

/** The users that tests give to their records, in place of those that would be loaded. */
const given = new WeakMap<object, unknown>();

export function giveLocalUser(record: object, user: unknown): void {
  given.set(record, user);
}

/** Loads the application's own users, for one registration: one for each request. */
export class LocalUsers {
  readonly #loader: LoadUser | Type<UserLoader>;
  readonly #loadedNone: () => void;
  readonly #loaded = new WeakMap<object, { readonly record: object; readonly result: unknown }>();
  #load: LoadUser | undefined;

  /** @param loadedNone called if something was loaded that is no user */
  constructor(loader: LoadUser | Type<UserLoader>, loadedNone: () => void) {
    this.#loader = loader;
    this.#loadedNone = loadedNone;
    if (!isClassWith('load', loader)) this.#load = loader;
  }

  /** Denies a call whose user can't be loaded. Policies, which come after it, get the user. */
  readonly requirement: Requirement = {
    kind: 'load-user',
    text: 'loadUser',
    isMet: (call) => this.#loadFor(call),
  };

  /** Finds or creates the loader. @throws InvalidConfigurationError if Nest can't create it */
  async prepare(modules: ModuleRef): Promise<void> {
    const loader = this.#loader;
    if (!isClassWith('load', loader)) return;
    const scope = scopeOf(loader, modules);
    if (scope !== undefined && scope !== Scope.DEFAULT) {
      this.#load = async (record, context) => {
        const id = contextIdOf(context, modules, false);
        return (await modules.resolve(loader, id, { strict: false })).load(record, context);
      };
      return;
    }
    const single =
      scope === undefined ? await create(loader, modules) : modules.get(loader, { strict: false });
    if (typeof (single as Partial<UserLoader>).load !== 'function')
      throw new InvalidConfigurationError(
        `loadUser: ${loader.name} has no method load(record, context). Add it, or give loadUser a function.`,
      );
    this.#load = (record, context) => single.load(record, context);
  }

  #loadFor(call: RuledCall): boolean | Promise<boolean> {
    const { user: record, context } = call;
    const earlier = this.#loaded.get(call.request);
    let result = earlier?.result;
    if (earlier?.record !== record) {
      result = this.#find(record, context);
      // Asked once: some libraries send a query again with each `then()`, or reject that.
      if (isThenable(result)) result = Promise.resolve(result);
      this.#loaded.set(call.request, { record, result });
    }
    const take = (found: unknown): boolean => {
      const isUser = Boolean(found) && !NO_USERS.has(typeof found);
      if (isUser) call.localUser = found;
      else if (found !== undefined && found !== null) this.#loadedNone();
      return isUser;
    };
    return result instanceof Promise ? result.then(take) : take(result);
  }

  #find(record: UserRecord, context: ExecutionContext): unknown {
    if (given.has(record)) return given.get(record);
    if (!this.#load) throw new InvalidConfigurationError('The loader of users is not known yet');
    return this.#load(record, context);
  }
}

/** An answer whether there is a user, or what would give one, is none. */
const NO_USERS: ReadonlySet<string> = new Set(['boolean', 'function', 'symbol']);

/** Returns the scope of a provider; `undefined` if no module has it. */
function scopeOf(loader: Type<UserLoader>, modules: ModuleRef): Scope | undefined {
  try {
    return modules.introspect(loader).scope;
  } catch {
    return undefined;
  }
}

async function create(loader: Type<UserLoader>, modules: ModuleRef): Promise<UserLoader> {
  try {
    return await modules.create(loader);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'Its constructor threw.';
    throw new InvalidConfigurationError(
      `loadUser: ${loader.name} can't be created. Add it to the providers of the module that has its dependencies. ${reason}`,
    );
  }
}
