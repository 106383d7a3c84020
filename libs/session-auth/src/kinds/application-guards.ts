import 'reflect-metadata';
import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ModulesContainer, type ApplicationConfig } from '@nestjs/core';
import { isThenable } from '../contract/late-results.js';
import { addFirst, isSessionAuthGuard, namesSessionAuthGuard } from '../guard/enhancers.js';
import { classesOf, handlersIn, withGuardsOf, type Handler } from '../guard/handlers.js';

interface Application {
  readonly config: ApplicationConfig;
  /** Replaces guards that Nest would create for each call. */
  readonly requestScoped: CanActivate;
}

const applications = new WeakMap<ModulesContainer, Application>();
/** Functions with a session guard that Nest finds: none that a constructor names. */
const guarded = new WeakSet<object>();

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
    // Nest calls routes with the global guards.
    const isGuarded = context.getType() === 'http' || guarded.has(context.getHandler());
    return application && !isGuarded ? admitAll(guardsOf(application), context) : true;
  }
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
    if (isThenable(admitted))
      return Promise.resolve(admitted).then(
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
    const handlers = classesOf(module).flatMap(handlersIn).filter(needsProxy);
    if (handlers.length === 0) continue;
    for (const handler of handlers) {
      // Not to the method: a controller that Nest creates for each message may have another one in its place.
      addFirst(handler.owner, 'guard', ApplicationGuardsProxy);
      if (withGuardsOf(module, handler).guards.some(isSessionAuthGuard)) guarded.add(handler.called);
    }
    // Nest has found the proxy in the metadata of a class that another application has used before.
    if (module.injectables.has(ApplicationGuardsProxy)) continue;
    module.addInjectable(
      { provide: ApplicationGuardsProxy, useValue: new ApplicationGuardsProxy(modules) },
      'guard',
    );
  }
}

/** A class that names the session guard needs none. */
function needsProxy({ kinds, owner }: Handler): boolean {
  return (kinds.has('message') || kinds.has('gateway')) && !namesSessionAuthGuard(owner);
}
