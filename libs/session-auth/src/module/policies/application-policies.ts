import type { OnModuleInit, Type } from '@nestjs/common';
import type { ModuleRef, ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../../contract/errors.js';
import type { AuthorizationPolicy } from '../../guard/authorization-policy.js';
import type { AskPolicy, Policies } from '../../guard/policies.js';
import type { NestModule, Wrapper } from '../handlers/nest-container.js';
import { placedHandlersOf, ruleOf, type Handler } from '../handlers/handlers.js';
import { contextIdOf } from './call-context.js';
import { isScoped, moduleRefOf, providerModuleOf } from './policy-providers.js';

/** A policy, in the module that it lives in. */
interface PolicyIn {
  readonly home: NestModule;
  readonly ask: AskPolicy;
}

/** The policies of each controller, or of each module. */
type PolicyTable<Owner extends object> = WeakMap<Owner, Map<Type, PolicyIn>>;

const applications = new WeakMap<ModulesContainer, ApplicationPolicies>();

/**
 * The policies of an application: found or created at bootstrap, once for all registrations of the module.
 */
export class ApplicationPolicies implements Policies, OnModuleInit {
  readonly #modules: ModulesContainer;
  readonly #ofControllers: PolicyTable<Type> = new WeakMap();
  readonly #ofModules: PolicyTable<NestModule> = new WeakMap();
  #loading: Promise<void> | undefined;

  private constructor(modules: ModulesContainer) {
    this.#modules = modules;
  }

  /** Returns the policies of an application. */
  static of(modules: ModulesContainer): ApplicationPolicies {
    const policies = applications.get(modules) ?? new ApplicationPolicies(modules);
    applications.set(modules, policies);
    return policies;
  }

  /**
   * Finds or creates every policy. @throws InvalidConfigurationError if one can't be created, or has no
   * method `allows`
   */
  onModuleInit(): Promise<void> {
    return (this.#loading ??= this.#load());
  }

  find(controller: Type, policy: Type): AskPolicy | undefined {
    return this.#ofControllers.get(controller)?.get(policy)?.ask;
  }

  async #load(): Promise<void> {
    for (const { module, handler } of placedHandlersOf(this.#modules)) {
      for (const policy of policiesOf(handler)) await this.#bind(module, handler, policy);
    }
  }

  async #bind(module: NestModule, handler: Handler, policy: Type): Promise<void> {
    const bound = await this.#inModule(module, handler, policy);
    const earlier = this.#ofControllers.get(handler.owner)?.get(policy);
    if (earlier && earlier.home !== bound.home) {
      throw new InvalidConfigurationError(
        `${subject(policy, handler)} is ambiguous: ${handler.owner.name} is in ${earlier.home.name} and ${bound.home.name}, each with its own. Provide it in one module, and import that module in both.`,
      );
    }
    put(this.#ofControllers, handler.owner, policy, bound);
  }

  async #inModule(module: NestModule, handler: Handler, policy: Type): Promise<PolicyIn> {
    const home = providerModuleOf(module, policy) ?? module;
    const existing = this.#ofModules.get(home)?.get(policy);
    if (existing) return existing;
    const wrapper = home.providers.get(policy);
    const ask = wrapper
      ? provided(moduleRefOf(home), wrapper, handler, policy)
      : await created(home, handler, policy);
    return put(this.#ofModules, home, policy, { home, ask });
  }
}

function put<Owner extends object>(
  table: PolicyTable<Owner>,
  owner: Owner,
  policy: Type,
  found: PolicyIn,
): PolicyIn {
  const policies = table.get(owner) ?? new Map<Type, PolicyIn>();
  table.set(owner, policies.set(policy, found));
  return found;
}

function policiesOf(handler: Handler): Type[] {
  const rule = ruleOf(handler);
  return rule.kind === 'protected' ? rule.requirements.flatMap(({ policy }) => policy ?? []) : [];
}

/** A policy that is a provider. A scoped one is resolved for each call. */
function provided(moduleRef: ModuleRef, wrapper: Wrapper, handler: Handler, policy: Type): AskPolicy {
  if (wrapper.isDependencyTreeStatic() && !wrapper.isTransient)
    return asking(wrapper.instance, handler, policy);
  return async (user, context) => {
    const id = contextIdOf(context, moduleRef, wrapper.isDependencyTreeDurable());
    return (await moduleRef.resolve<AuthorizationPolicy>(policy, id, { strict: true })).allows(user, context);
  };
}

/** A policy that is not a provider: Nest creates it for the module, as it does for guards. */
async function created(home: NestModule, handler: Handler, policy: Type): Promise<AskPolicy> {
  if (isScoped(policy, home)) {
    throw new InvalidConfigurationError(
      `${subject(policy, handler)} is request-scoped or transient, and no provider. Add it to the providers of ${home.name}.`,
    );
  }
  const instance: unknown = await moduleRefOf(home)
    .create<unknown>(policy)
    .catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : 'Its constructor threw.';
      throw new InvalidConfigurationError(
        `${subject(policy, handler)} can't be created in ${home.name}. ${reason}`,
      );
    });
  return asking(instance, handler, policy);
}

function asking(instance: unknown, handler: Handler, policy: Type): AskPolicy {
  const candidate = instance as Partial<AuthorizationPolicy> | undefined;
  if (typeof candidate?.allows !== 'function') {
    throw new InvalidConfigurationError(
      `${subject(policy, handler)} has no method allows(user, context). Add it, or give @Authorize() a function.`,
    );
  }
  const checked = candidate as AuthorizationPolicy;
  return (user, context) => checked.allows(user, context);
}

function subject(policy: Type, { owner, name }: Handler): string {
  return `@Authorize(${policy.name}) of ${owner.name}.${name}: the policy`;
}
