import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ModulesContainer, type ApplicationConfig } from '@nestjs/core';
import { isSessionAuthGuard } from './access-decorator.js';
import type { SessionAuthGuard } from '../session-auth.guard.js';

/** Runs the session guards that are registered for the whole application; without one it admits. */
export class ApplicationGuards implements CanActivate {
  readonly #config: ApplicationConfig;
  readonly #requestScoped: SessionAuthGuard;
  #known = 0;
  #guards: readonly CanActivate[] = [];

  /** @param requestScoped what stands for a guard that Nest would build anew for each call */
  constructor(config: ApplicationConfig, requestScoped: SessionAuthGuard) {
    this.#config = config;
    this.#requestScoped = requestScoped;
  }

  /** `true` if all of them admit. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    return admitAll(this.#current(), context);
  }

  /** An application may add guards until it listens, and may be called over another transport before that. */
  #current(): readonly CanActivate[] {
    const guards = this.#config.getGlobalGuards();
    const waiting = this.#config.getGlobalRequestGuards();
    if (this.#known === guards.length + waiting.length) return this.#guards;
    this.#known = guards.length + waiting.length;
    this.#guards = guards.filter(isSessionAuthGuard);
    if (waiting.some(({ metatype }) => isSessionAuthGuard(metatype))) this.#guards = [...this.#guards, this.#requestScoped];
    return this.#guards;
  }
}

const applications = new WeakMap<ModulesContainer, ApplicationGuards>();

/**
 * Runs the guards of the application that it belongs to, on handlers that Nest may call without them. It is named by the handlers of a class, and
 * other applications of this process may use that class: Nest builds it for each of them, and where none is registered it admits.
 */
@Injectable()
export class ApplicationGuardsProxy implements CanActivate {
  /** @internal Nest builds it, with the modules of the application. */
  constructor(@Inject(ModulesContainer) private readonly modules: ModulesContainer) {}

  /** Registers the guards of an application. */
  static register(modules: ModulesContainer, guards: ApplicationGuards): void {
    applications.set(modules, guards);
  }

  /** `true` if all guards of the application admit. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    return applications.get(this.modules)?.canActivate(context) ?? true;
  }
}

function admitAll(guards: readonly CanActivate[], context: ExecutionContext, first = 0): boolean | Promise<boolean> {
  for (let index = first; index < guards.length; index += 1) {
    const admitted: unknown = guards[index]?.canActivate(context);
    if (admitted instanceof Promise) return admitted.then((yes: unknown) => yes === true && admitAll(guards, context, index + 1));
    if (admitted !== true) return false;
  }
  return true;
}
