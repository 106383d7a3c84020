import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ModulesContainer, type ApplicationConfig } from '@nestjs/core';
import { isSessionAuthGuard } from './enhancers.js';
import type { SessionAuthGuard } from './session-auth.guard.js';

/** Runs the session guards that are registered for the whole application. Admits if there are none. */
export class ApplicationGuards implements CanActivate {
  readonly #config: ApplicationConfig;
  readonly #requestScoped: SessionAuthGuard;
  #guardCount = 0;
  #guards: readonly CanActivate[] = [];

  /** @param requestScoped replaces guards that Nest would create for each call */
  constructor(config: ApplicationConfig, requestScoped: SessionAuthGuard) {
    this.#config = config;
    this.#requestScoped = requestScoped;
  }

  /** Returns `true` if all of them admit. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    return admitAll(this.#current(), context);
  }

  /**
   * Not fixed at startup: an application may add guards until it listens, and receive calls over another
   * transport before that.
   */
  #current(): readonly CanActivate[] {
    const guards = this.#config.getGlobalGuards();
    const requestGuards = this.#config.getGlobalRequestGuards();
    const count = guards.length + requestGuards.length;
    if (this.#guardCount === count) return this.#guards;
    this.#guardCount = count;
    this.#guards = guards.filter(isSessionAuthGuard);
    if (requestGuards.some(({ metatype }) => isSessionAuthGuard(metatype)))
      this.#guards = [...this.#guards, this.#requestScoped];
    return this.#guards;
  }
}

const applications = new WeakMap<ModulesContainer, ApplicationGuards>();

/**
 * Runs the guards of its application on handlers that Nest may call without them. The metadata of a class
 * name it, and several applications of this process may use that class: Nest creates a proxy for each of
 * them. Admits in an application that has not registered guards.
 */
@Injectable()
export class ApplicationGuardsProxy implements CanActivate {
  /** @internal Nest creates it, with the modules of the application. */
  constructor(@Inject(ModulesContainer) private readonly modules: ModulesContainer) {}

  /** Registers the guards of an application. */
  static register(modules: ModulesContainer, guards: ApplicationGuards): void {
    applications.set(modules, guards);
  }

  /** Returns `true` if all guards of the application admit. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    return applications.get(this.modules)?.canActivate(context) ?? true;
  }
}

function admitAll(
  guards: readonly CanActivate[],
  context: ExecutionContext,
  first = 0,
): boolean | Promise<boolean> {
  for (let index = first; index < guards.length; index += 1) {
    const admitted: unknown = guards[index]?.canActivate(context);
    if (admitted instanceof Promise)
      return admitted.then((result: unknown) => result === true && admitAll(guards, context, index + 1));
    if (admitted !== true) return false;
  }
  return true;
}
