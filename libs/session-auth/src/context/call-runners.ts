import 'reflect-metadata';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { CallInterceptor } from './call-interceptor.js';
import { runField, runPublicField } from './field-calls.js';
import { addFirst } from '../guard/enhancers.js';
import { ruleOf } from '../guard/access-rules.js';
import { classesOf, handlersIn, type Handler } from '../guard/handlers.js';

const INTERCEPTOR = new CallInterceptor();
const FIELD_MIDDLEWARE_METADATA = 'graphql:field_resolver_middleware';

/**
 * Runs every handler of an application as a part of its call. The interceptor is the first of the global
 * ones. Nest applies no global interceptors to gateways on NestJS 11, nor to message handlers of a hybrid
 * application that connects a microservice without `inheritAppConfig`: their classes name it too. It runs
 * once in a call. Fields of GraphQL have a middleware, because Nest runs no interceptors on them.
 */
export function runEveryCall(modules: ModulesContainer, config: ApplicationConfig): void {
  config.addGlobalInterceptor(INTERCEPTOR);
  for (const module of modules.values()) {
    for (const handler of classesOf(module).flatMap(handlersIn)) {
      const { kinds } = handler;
      if (kinds.has('message') || kinds.has('gateway')) addFirst(handler.owner, 'interceptor', INTERCEPTOR);
      if (kinds.has('field') || kinds.has('reference')) addMiddleware(handler);
    }
  }
}

/** A method that several classes inherit is public if it is in one of them. */
function addMiddleware(handler: Handler): void {
  const { method } = handler;
  const isPublic = ruleOf(handler).kind === 'public';
  const middleware = (Reflect.getMetadata(FIELD_MIDDLEWARE_METADATA, method) ?? []) as unknown[];
  const others = middleware.filter((each) => each !== runField && each !== runPublicField);
  const run = isPublic || middleware.includes(runPublicField) ? runPublicField : runField;
  Reflect.defineMetadata(FIELD_MIDDLEWARE_METADATA, [run, ...others], method);
}
