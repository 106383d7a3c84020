import type { ModulesContainer } from '@nestjs/core';
import { ApplicationGuardsProxy, type ApplicationGuards } from '../../guard/application-guards.js';
import { applyGuard } from '../../guard/declare-access.js';
import { namesSessionAuthGuard } from '../../guard/enhancers.js';
import { classesOf, handlersIn, type Handler } from '../../guard/handlers.js';

/**
 * Applies the global guards of an application to handlers that Nest would call without them: message handlers
 * of a hybrid application that connects a microservice without `inheritAppConfig`, and gateways on NestJS 11.
 * Nest reads the metadata of `@UseGuards()` when it builds those handlers, after the modules.
 */
export function guardEveryHandler(modules: ModulesContainer, guards: ApplicationGuards): void {
  ApplicationGuardsProxy.register(modules, guards);
  for (const module of modules.values()) {
    const handlers = classesOf(module).flatMap(handlersIn).filter(needsProxy);
    if (handlers.length === 0) continue;
    for (const { method } of handlers) applyGuard(ApplicationGuardsProxy, method);
    // If another application has used the class before, Nest has found the proxy in its metadata, and creates
    // it.
    if (module.injectables.has(ApplicationGuardsProxy)) continue;
    module.addInjectable(
      { provide: ApplicationGuardsProxy, useValue: new ApplicationGuardsProxy(modules) },
      'guard',
    );
  }
}

/** A handler that names the session guard is guarded without the proxy. */
function needsProxy({ kinds, owner, method }: Handler): boolean {
  return (
    (kinds.has('message') || kinds.has('gateway')) &&
    !namesSessionAuthGuard(owner) &&
    !namesSessionAuthGuard(method)
  );
}
