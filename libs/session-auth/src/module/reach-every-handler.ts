import type { ModulesContainer } from '@nestjs/core';
import { ApplicationGuardsProxy, type ApplicationGuards } from '../guard/access/application-guards.js';
import { applyGuard, namesSessionAuthGuard } from '../guard/access/access-decorator.js';
import { classesOf, handlersIn, type Handler } from './handlers.js';

/**
 * Makes guards of the whole application reach message handlers of a hybrid application that connects a microservice without `inheritAppConfig`,
 * and gateways on NestJS 11. Nest reads what `@UseGuards()` names when it builds those handlers, after the modules.
 */
export function reachEveryHandler(modules: ModulesContainer, guards: ApplicationGuards): void {
  ApplicationGuardsProxy.register(modules, guards);
  for (const module of modules.values()) {
    const handlers = classesOf(module).flatMap(handlersIn).filter(isPassedBy);
    if (handlers.length === 0) continue;
    for (const { method } of handlers) applyGuard(ApplicationGuardsProxy, method);
    // Where the class served another application before, Nest has read the name, and builds the guard itself.
    if (module.injectables.has(ApplicationGuardsProxy)) continue;
    module.addInjectable({ provide: ApplicationGuardsProxy, useValue: new ApplicationGuardsProxy(modules) }, 'guard');
  }
}

/** A handler that names the session guard is guarded anyway. */
function isPassedBy({ kinds, owner, method }: Handler): boolean {
  return (kinds.has('message') || kinds.has('gateway')) && !namesSessionAuthGuard(owner) && !namesSessionAuthGuard(method);
}
