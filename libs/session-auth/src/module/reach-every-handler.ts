import type { CanActivate } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { ApplicationGuardsMark } from '../guard/application-guards.js';
import { applyGuard, namesSessionAuthGuard } from '../guard/named-guards.js';
import { classesOf, handlersIn, type Handler } from './audit/handlers.js';

/**
 * Makes guards of the whole application reach message handlers of a hybrid application that connects a microservice without `inheritAppConfig`,
 * and gateways on NestJS 11. Nest reads what `@UseGuards()` names when it builds those handlers, after the modules.
 */
export function reachEveryHandler(modules: ModulesContainer, guards: CanActivate): void {
  for (const module of modules.values()) {
    const handlers = classesOf(module).flatMap(handlersIn).filter(isPassedBy);
    if (handlers.length === 0) continue;
    for (const { method } of handlers) applyGuard(ApplicationGuardsMark, method);
    module.addInjectable({ provide: ApplicationGuardsMark, useValue: guards }, 'guard');
  }
}

/** A handler that names the session guard is guarded anyway. */
function isPassedBy({ kinds, owner, method }: Handler): boolean {
  return (kinds.has('message') || kinds.has('gateway')) && !namesSessionAuthGuard(owner) && !namesSessionAuthGuard(method);
}
