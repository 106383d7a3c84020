import 'reflect-metadata';
import { Inject, Injectable, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { ModulesContainer, type ApplicationConfig } from '@nestjs/core';
import { addFirst, isSessionAuthGuard, namesSessionAuthGuard } from '../guard/enhancers.js';
import { classesOf, handlersIn } from '../guard/handlers.js';

interface Application {
  readonly config: ApplicationConfig;
  /** Replaces guards that Nest would create for each call. */
  readonly requestScoped: CanActivate;
}

const applications = new WeakMap<ModulesContainer, Application>();

/**
 * Runs the session guards of its whole application on handlers that Nest may call without them. The metadata
 * of a class name it, and several applications of this process may use that class: Nest creates a proxy for
 * each of them.
 */
@Injectable()
export class ApplicationGuardsProxy implements CanActivate {
  /** @internal Nest creates it, with the modules of the application. */
  constructor(@Inject(ModulesContainer) private readonly modules: ModulesContainer) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const application = applications.get(this.modules);
    return application && !isGuarded(context) ? admitAll(guardsOf(application), context) : true;
  }
}

/** Nest calls routes with the global guards, and a function that names the session guard with that one. */
function isGuarded(context: ExecutionContext): boolean {
  return context.getType() === 'http' || namesSessionAuthGuard(context.getHandler());
}

/**
 * Returns those of now: an application may add guards until it listens, and receive calls over another
 * transport before that.
 */
function guardsOf({ config, requestScoped }: Application): CanActivate[] {
  const isRequestScoped = config
    .getGlobalRequestGuards()
    .some(({ metatype }) => isSessionAuthGuard(metatype));
  return [
    ...config.getGlobalGuards().filter(isSessionAuthGuard),
    ...(isRequestScoped ? [requestScoped] : []),
  ];
}

function admitAll(guards: readonly CanActivate[], context: ExecutionContext): boolean | Promise<boolean> {
  for (const [index, guard] of guards.entries()) {
    const admitted: unknown = guard.canActivate(context);
    if (admitted instanceof Promise)
      return admitted.then(
        (result: unknown) => result === true && admitAll(guards.slice(index + 1), context),
      );
    if (admitted !== true) return false;
  }
  return true;
}

/**
 * Applies the global guards of an application to handlers that Nest would call without them: message handlers
 * of a hybrid application that connects a microservice without `inheritAppConfig`, and gateways on NestJS 11.
 * Nest reads the metadata of `@UseGuards()` when it builds those handlers, after the modules.
 */
export function guardEveryHandler(
  modules: ModulesContainer,
  config: ApplicationConfig,
  requestScoped: CanActivate,
): void {
  applications.set(modules, { config, requestScoped });
  for (const module of modules.values()) {
    const owners = classesOf(module).filter(needsProxy);
    if (owners.length === 0) continue;
    // Not to the method: a controller that Nest creates for each message may have another one in its place.
    for (const owner of owners) addFirst(owner, 'guard', ApplicationGuardsProxy);
    // Nest has found the proxy in the metadata of a class that another application has used before.
    if (module.injectables.has(ApplicationGuardsProxy)) continue;
    module.addInjectable(
      { provide: ApplicationGuardsProxy, useValue: new ApplicationGuardsProxy(modules) },
      'guard',
    );
  }
}

/** A class that names the session guard is guarded without the proxy. */
function needsProxy(owner: Type): boolean {
  if (namesSessionAuthGuard(owner)) return false;
  return handlersIn(owner).some(({ kinds }) => kinds.has('message') || kinds.has('gateway'));
}
