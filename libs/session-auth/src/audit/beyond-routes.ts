import { namesSessionAuthGuard } from '../guard/enhancers.js';
import { graphqlOptionsOf, type Handler, REPLACED_OPTION } from '../guard/handlers.js';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { type AuditContext, type BeyondRoutes, finding, type Finding, placeOf } from './audit-context.js';
import { auditedRuleOf, isGuarded, namesGuard, requirementsOf } from './audited-handlers.js';
import { declares, enforces } from './ineffective-rules.js';
import { fieldOf, mappedHandlersOf } from './mapped-fields.js';
import { type RoutePrefixes, textOf } from './routes.js';
import { builtRootFields } from './schema-reach.js';
import { unguardedField } from './unguarded-fields.js';

export const BEYOND_ROUTES: BeyondRoutes = {
  mappedHandlersOf,
  builtRootFields,
  servedMessagesOf,
  findingsOf,
  sharedContextsOf,
};

function findingsOf(handler: Handler, context: AuditContext): (Finding | undefined)[] {
  return [
    ...handler.replaced.map((other) => replaced(handler, other)),
    besideGateway(handler, context),
    unguardedField(handler, context),
  ];
}

/** A subclass that declares its own rule means to replace its base class. */
function replaced(handler: Handler, other: Handler): Finding | undefined {
  const isMeant =
    other.owner === handler.owner ||
    (handler.owner.prototype instanceof other.owner && declares(handler.method));
  if (isMeant || !namesGuard(other) || enforces(handler, auditedRuleOf(other))) return undefined;
  return finding(
    `${placeOf(other)} has a rule without effect: ${placeOf(handler)} resolves ${fieldOf(handler)} too, and Nest keeps the last one. Provide one of them.`,
    true,
  );
}

/** All gateways of a server receive its messages. */
function besideGateway(handler: Handler, { handlers }: AuditContext): Finding | undefined {
  const server = serverOf(handler);
  if (server === undefined || isGuarded(handler) || declares(handler.called) || declares(handler.owner))
    return undefined;
  const others = handlers.filter((other) => other.owner !== handler.owner && serverOf(other) === server);
  const guarded = others.filter(requirementsOf);
  const same = guarded.find((other) => eventOf(other) === eventOf(handler));
  const remedy = 'Give it the rule, or mark it @Public().';
  if (same)
    return finding(
      `${placeOf(handler)} receives the messages of ${placeOf(same)} without its rule. ${remedy}`,
      true,
    );
  const other = guarded.find(({ owner }) => namesSessionAuthGuard(owner));
  return (
    other &&
    finding(`${placeOf(handler)} is open on the port of ${other.owner.name}, which is guarded. ${remedy}`)
  );
}

/** NestJS 12 copies the object of a context for each request, but not with Mercurius. */
function sharedContextsOf(modules: ModulesContainer, config: ApplicationConfig): Finding[] {
  // A method since NestJS 12. Not every module system can read the version of Nest.
  const isNest12 = 'getGlobalPreRequestHooks' in config;
  return graphqlOptionsOf(modules)
    .filter(({ context: option, driver }) => {
      const context =
        typeof option === 'function' && REPLACED_OPTION in option ? option[REPLACED_OPTION] : option;
      const isCopied = isNest12 && typeof driver === 'function' && driver.name.startsWith('Apollo');
      return typeof context === 'object' && context !== null && !isCopied;
    })
    .map(() =>
      finding(
        'GraphQLModule has one object as its context, for all requests. Give it a function: context: () => ({ ... }).',
      ),
    );
}

/** Of an event, Nest calls every handler. */
const MESSAGE = 1;

/** Returns the messages of a microservice of which one handler receives all. */
export function servedMessagesOf({ kinds, owner, method }: Handler, prefixes: RoutePrefixes): string[] {
  const read = (key: string): unknown => Reflect.getMetadata(key, method) ?? Reflect.getMetadata(key, owner);
  if (!kinds.has('message') || read('microservices:handler_type') !== MESSAGE || !prefixes.has(owner))
    return [];
  const transport = read('microservices:transport') as number | symbol | undefined;
  const suffix = transport === undefined ? '' : ` of transport ${String(transport)}`;
  return patternsOf(method).map((pattern) => `the message ${pattern}${suffix}`);
}

export function patternsOf(method: object): string[] {
  return ((Reflect.getMetadata('microservices:pattern', method) ?? []) as unknown[]).map(textOf);
}

export function gatewayOf({ kinds, owner }: Handler): Readonly<Record<string, unknown>> | undefined {
  if (!kinds.has('gateway') || !Reflect.hasMetadata('websockets:is_gateway', owner)) return undefined;
  const options = Reflect.getMetadata('websockets:gateway_options', owner) as object | undefined;
  return { ...options, port: Reflect.getMetadata('port', owner) as unknown };
}

export function eventOf({ method }: Handler): string {
  return textOf(Reflect.getMetadata('message', method));
}

export function serverOf(handler: Handler): string | undefined {
  const gateway = gatewayOf(handler);
  const parts = gateway && [gateway.port, gateway.path, gateway.namespace];
  return parts?.map((part) => (part === undefined ? '' : textOf(part)).replace(/^\//, '')).join(' ');
}
