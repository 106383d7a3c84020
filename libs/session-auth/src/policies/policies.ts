import type { ExecutionContext, InjectionToken, Type } from '@nestjs/common';
import { type ContextId, ContextIdFactory, ModuleRef, type ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { UserRecord } from '../contract/record/user-record.js';
import type { AskPolicy, FindPolicy } from '../guard/access-rules.js';
import { type Handler, type Placed, policiesOf } from '../guard/handlers.js';
import { dependenciesOf, type NestModule, type Wrapper } from '../guard/nest-container.js';

/** A policy, whose `localUser` is absent without the option `loadUser`. */
interface Policy {
  allows(user: UserRecord, context: ExecutionContext, localUser: unknown): unknown;
}

/** The used part of Nest's injector. The reference of each module has it. */
interface Injector {
  loadProvider(wrapper: Wrapper, module: NestModule): Promise<void>;
  loadPerContext(
    instance: unknown,
    module: NestModule,
    collection: NestModule['providers'],
    id: ContextId,
    wrapper: Wrapper,
  ): Promise<Policy>;
}

interface PolicyOf {
  readonly wrapper: Wrapper;
  readonly ask: AskPolicy;
}

const applications = new WeakMap<ModulesContainer, Promise<FindPolicy>>();

/**
 * Finds the policies that handlers name, or lets Nest create them, once for all authorities of an
 * application. @throws InvalidConfigurationError if one can't be created, or has no method `allows`
 */
export function policiesIn(modules: ModulesContainer, placed: readonly Placed[]): Promise<FindPolicy> {
  const found = applications.get(modules) ?? bindAll(placed);
  applications.set(modules, found);
  return found;
}

async function bindAll(placed: readonly Placed[]): Promise<FindPolicy> {
  const ofControllers = new Map<Type, Map<Type, PolicyOf>>();
  for (const { module, handler } of placed) {
    for (const policy of policiesOf(handler)) await bind(ofControllers, module, handler, policy);
  }
  return (controller, policy) => ofControllers.get(controller)?.get(policy)?.ask;
}

async function bind(
  ofControllers: Map<Type, Map<Type, PolicyOf>>,
  module: NestModule,
  handler: Handler,
  policy: Type,
): Promise<void> {
  const wrapper = (await providerIn(module, policy)) ?? (await addTo(module, handler, policy));
  const policies = ofControllers.get(handler.owner) ?? new Map<Type, PolicyOf>();
  const earlier = policies.get(policy)?.wrapper;
  if (earlier && earlier !== wrapper) {
    throw new InvalidConfigurationError(
      `${subject(policy, handler)} is ambiguous: ${handler.owner.name} is in ${homeOf(earlier).name} and ${homeOf(wrapper).name}, each with its own. Provide it in one module, and import that module in both.`,
    );
  }
  ofControllers.set(handler.owner, policies.set(policy, { wrapper, ask: asking(wrapper, handler, policy) }));
}

function referenceOf({ providers }: NestModule): ModuleRef {
  return providers.get(ModuleRef)?.instance as ModuleRef;
}

function injectorOf(module: NestModule): Injector {
  return (referenceOf(module) as unknown as { readonly injector: Injector }).injector;
}

function homeOf({ host }: { readonly host?: unknown }): NestModule {
  return host as NestModule;
}

function storedIn({ providers }: NestModule, token: InjectionToken): Wrapper {
  const wrapper: unknown = providers.get(token);
  return wrapper as Wrapper;
}

/** An optional dependency shows which provider Nest injects for a policy. */
async function providerIn(module: NestModule, policy: Type): Promise<Wrapper | undefined> {
  const token = Symbol(policy.name);
  module.addProvider({
    provide: token,
    useFactory: () => undefined,
    inject: [{ token: policy, optional: true }],
  });
  const dependent = storedIn(module, token);
  await injectorOf(module).loadProvider(dependent, module);
  module.providers.delete(token);
  return dependenciesOf(dependent)[0];
}

async function addTo(module: NestModule, handler: Handler, policy: Type): Promise<Wrapper> {
  module.addProvider(policy);
  const wrapper = storedIn(module, policy);
  try {
    await injectorOf(module).loadProvider(wrapper, module);
  } catch (error) {
    // On NestJS 11, closing the application overflows the stack over a provider that has failed.
    module.providers.delete(policy);
    const reason = error instanceof Error ? error.message : 'Its constructor threw.';
    throw new InvalidConfigurationError(
      `${subject(policy, handler)} can't be created in ${module.name}. ${reason}`,
    );
  }
  return wrapper;
}

/** A policy that has a scope, or a dependency with one, is resolved for each call. */
function asking(wrapper: Wrapper, handler: Handler, policy: Type): AskPolicy {
  if (!wrapper.isDependencyTreeStatic() || wrapper.isTransient) {
    const home = homeOf(wrapper);
    return async (user, context, localUser) => {
      const id = contextIdOf(context, referenceOf(home), wrapper.isDependencyTreeDurable());
      const injector = injectorOf(home);
      const own = await injector.loadPerContext(wrapper.instance, home, home.providers, id, wrapper);
      return own.allows(user, context, localUser);
    };
  }
  const single = wrapper.instance as Policy | null | undefined;
  if (typeof single?.allows === 'function')
    return (user, context, localUser) => single.allows(user, context, localUser);
  throw new InvalidConfigurationError(
    `${subject(policy, handler)} has no method allows(user, context). Add it, or give @Authorize() a function.`,
  );
}

function subject(policy: Type, { owner, name }: Handler): string {
  return `@Authorize(${policy.name}) of ${owner.name}.${name}: the policy`;
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
