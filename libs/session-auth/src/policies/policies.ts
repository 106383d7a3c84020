import type { ExecutionContext, Type } from '@nestjs/common';
import { type ContextId, ContextIdFactory, ModuleRef, type ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { UserRecord } from '../contract/record/user-record.js';
import type { AskPolicy, FindPolicy } from '../guard/access-rules.js';
import { type Handler, type Placed, policiesOf } from '../guard/handlers.js';
import type { NestModule } from '../guard/nest-container.js';

/** A policy, whose `localUser` is absent without the option `loadUser`. */
interface Policy {
  allows(user: UserRecord, context: ExecutionContext, localUser: unknown): unknown;
}

/** A policy of the handlers of a class, and the modules that provide it for them. */
interface NamedPolicy {
  readonly policy: Type;
  readonly handler: Handler;
  readonly module: NestModule;
  readonly homes: Set<NestModule>;
}

/**
 * Finds the providers of the policies that handlers name.
 * @throws InvalidConfigurationError if one has none or several, or has no method `allows`
 */
export function policiesIn(modules: ModulesContainer, placed: readonly Placed[]): FindPolicy {
  const ofControllers = new Map<Type, Map<Type, NamedPolicy>>();
  for (const { module, handler } of placed) {
    for (const policy of policiesOf(handler)) {
      const ofController = ofControllers.get(handler.owner) ?? new Map<Type, NamedPolicy>();
      const named = ofController.get(policy) ?? { policy, handler, module, homes: new Set() };
      for (const home of homesFor(module, policy, modules)) named.homes.add(home);
      ofControllers.set(handler.owner, ofController.set(policy, named));
    }
  }
  const asks = new Map(
    [...ofControllers].map(([controller, policies]) => [
      controller,
      new Map([...policies].map(([policy, named]) => [policy, askerOf(named)])),
    ]),
  );
  return (controller, policy) => asks.get(controller)?.get(policy);
}

/** Returns the module itself if it provides a policy, otherwise those that it is given it by, otherwise any. */
function homesFor(module: NestModule, policy: Type, modules: ModulesContainer): NestModule[] {
  if (module.providers.has(policy)) return [module];
  const homes = [...modules.values()].filter(({ providers }) => providers.has(policy));
  // Global modules are among the imports of each.
  const given = homes.filter((home) => module.imports.has(home) && home.exports.has(policy));
  return given.length > 0 ? given : homes;
}

/** A policy that has a scope, or a dependency with one, is resolved for each call. */
function askerOf({ policy, handler, module, homes }: NamedPolicy): AskPolicy {
  const subject = `@Authorize(${policy.name}) of ${handler.owner.name}.${handler.name}: `;
  const [home, ...others] = homes;
  const wrapper = home?.providers.get(policy);
  if (!home || !wrapper)
    throw new InvalidConfigurationError(
      `${subject}no module provides the policy. Add ${policy.name} to the providers of ${module.name}.`,
    );
  if (others.length > 0)
    throw new InvalidConfigurationError(
      `${subject}the policy is ambiguous: ${[...homes].map(({ name }) => name).join(' and ')} provide it. Provide it in one of them only, or in the module of the handler.`,
    );
  const reference = home.providers.get(ModuleRef)?.instance as ModuleRef;
  if (!wrapper.isDependencyTreeStatic() || wrapper.isTransient)
    return async (user, context, localUser) => {
      const id = contextIdOf(context, reference, wrapper.isDependencyTreeDurable());
      return (await reference.resolve<Policy>(policy, id)).allows(user, context, localUser);
    };
  const single = reference.get<Policy | null | undefined>(policy);
  if (typeof single?.allows === 'function')
    return (user, context, localUser) => single.allows(user, context, localUser);
  throw new InvalidConfigurationError(
    `${subject}the policy has no method allows(user, context). Add it, or give @Authorize() a function.`,
  );
}

const PATTERN = 'microservices:pattern';
const MESSAGE = 'message';

/** Context ids of calls for which Nest has none, or none that it reveals. */
const ownIds = new WeakMap<object, ContextId>();

/**
 * Returns the context id of a call, by which Nest distinguishes request-scoped instances. For HTTP and
 * GraphQL it is Nest's own. For a message Nest reveals none: all policies of the message share one.
 * @param isDurable whether the instance to resolve is durable: shared by the calls of one tenant
 */
export function contextIdOf(context: ExecutionContext, moduleRef: ModuleRef, isDurable: boolean): ContextId {
  const [carrier, request] = carrierOf(context);
  const own = ownIds.get(carrier);
  if (own) return own;
  const id = ContextIdFactory.getByRequest(carrier, ['raw', 'req']);
  // An id that Nest has attached to the call is the same each time; any other is new.
  if (ContextIdFactory.getByRequest(carrier, ['raw', 'req']) === id) return id;
  ownIds.set(carrier, id);
  moduleRef.registerRequestByContextId(isDurable ? id.payload : request, id);
  return id;
}

/** Returns the object that exists once for each call, and what `@Inject(REQUEST)` injects. */
function carrierOf(context: ExecutionContext): [carrier: object, request: unknown] {
  const type = context.getType<string>();
  if (type === 'http' || type === 'graphql') {
    const carrier = context.getArgByIndex<object>(type === 'http' ? 0 : 2);
    return [carrier, carrier];
  }
  return [context, messageOf(context, type)];
}

/**
 * Returns what Nest injects as the request of a message: its pattern, data and context. The context of a
 * gateway's message is its socket.
 */
function messageOf(context: ExecutionContext, type: string): object {
  const handler = context.getHandler();
  if (type === 'ws') {
    return {
      pattern: Reflect.getMetadata(MESSAGE, handler) as unknown,
      data: context.switchToWs().getData<unknown>(),
      context: context.switchToWs().getClient<unknown>(),
    };
  }
  const [pattern] = (Reflect.getMetadata(PATTERN, handler) ?? []) as unknown[];
  return {
    pattern,
    data: context.switchToRpc().getData<unknown>(),
    context: context.switchToRpc().getContext<unknown>(),
  };
}
