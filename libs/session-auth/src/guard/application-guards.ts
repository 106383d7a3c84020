import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { isSessionAuthGuard } from './named-guards.js';
import type { SessionAuthGuard } from './session-auth.guard.js';

/**
 * Marks a handler that Nest may call without the guards of the whole application. The mark stays with the class, which other applications of
 * this process may share, so by itself it admits. An application that registers the module gives it {@link ApplicationGuards} instead.
 */
@Injectable()
export class ApplicationGuardsMark implements CanActivate {
  /** Admits: this application has not registered the module. */
  canActivate(): true {
    return true;
  }
}

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

function admitAll(guards: readonly CanActivate[], context: ExecutionContext, first = 0): boolean | Promise<boolean> {
  for (let index = first; index < guards.length; index += 1) {
    const admitted: unknown = guards[index]?.canActivate(context);
    if (admitted instanceof Promise) return admitted.then((yes: unknown) => yes === true && admitAll(guards, context, index + 1));
    if (admitted !== true) return false;
  }
  return true;
}
