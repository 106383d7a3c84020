import 'reflect-metadata';
import {
  Inject,
  Module,
  type DynamicModule,
  type FactoryProvider,
  type InjectionToken,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
  type Type,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { UserRecord } from '../contract/record/user-record.js';
import type { CurrentUserRecord } from '../guard/current-user.decorator.js';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { contextKind, ContextKindsModule } from './context-kinds.module.js';
import { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } from './module-definition.js';
import type { SessionAuthPlugin } from './options/plugins.js';
import { authorityToken, type ProvidedClass } from './authorities/authority-tokens.js';
import type {
  NamedSessionAuthAsyncOptions,
  NamedSessionAuthExtras,
  NamedSessionAuthOptions,
  SessionAuthAsyncOptions,
  SessionAuthExtras,
  SessionAuthOptions,
  SessionAuthOptionsFactory,
} from './options/options.js';
import { AUDIT, EXPORTS, namedAuthority, PROVIDERS } from './providers.js';
import { SessionAuthService } from './service/session-auth.service.js';
import { PARTS, type AuthorityParts } from './wiring.js';

declare const service: unique symbol;

/** An authority of the module, with the type of its user record for {@link ServiceOf}. */
export interface SessionAuthDynamicModule<User extends UserRecord> extends DynamicModule {
  /** Exists in the type only. */
  readonly [service]?: SessionAuthService<User>;
}

/** The type of the service that an authority provides: `ServiceOf<typeof authority>`. */
export type ServiceOf<Authority extends DynamicModule> =
  Authority extends SessionAuthDynamicModule<infer User> ? SessionAuthService<User> : never;

/** Registers the guard and the service for one session service and one application key. */
@Module({ imports: [ContextKindsModule], providers: PROVIDERS, exports: EXPORTS })
export class SessionAuthModule
  extends ConfigurableModuleClass
  implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown
{
  /** @internal Created by Nest. */
  constructor(
    @Inject(PARTS) private readonly parts: AuthorityParts,
    @Inject(AUDIT) private readonly audit: () => void,
    @Inject(ModuleRef) private readonly modules: ModuleRef,
  ) {
    super();
  }

  /**
   * Registers the module with options.
   * @throws InvalidConfigurationError at bootstrap, naming the option
   */
  static override forRoot<User extends UserRecord = UserRecord>(
    options: NamedSessionAuthOptions<User> & NamedSessionAuthExtras,
  ): SessionAuthDynamicModule<User>;
  static override forRoot<User extends CurrentUserRecord = CurrentUserRecord>(
    options: SessionAuthOptions<User> & SessionAuthExtras,
  ): SessionAuthDynamicModule<User>;
  static override forRoot(options: object): DynamicModule {
    const given = options as SessionAuthOptions & SessionAuthExtras;
    rejectMissing(given, 'forRoot({ baseUrl, apiKey })');
    return named(super.forRoot(given), given.name);
  }

  /**
   * Registers the module with options from a factory, a class or an existing provider.
   * @throws InvalidConfigurationError at bootstrap, naming the option
   */
  static override forRootAsync<User extends UserRecord = UserRecord>(
    options: NamedSessionAuthAsyncOptions<User> & NamedSessionAuthExtras,
  ): SessionAuthDynamicModule<User>;
  static override forRootAsync<User extends CurrentUserRecord = CurrentUserRecord>(
    options: SessionAuthAsyncOptions<User> & SessionAuthExtras,
  ): SessionAuthDynamicModule<User>;
  static override forRootAsync(options: object): DynamicModule {
    const given = options as SessionAuthAsyncOptions & SessionAuthExtras;
    rejectMissing(given, 'forRootAsync({ useFactory })');
    return named(checkingFactory(super.forRootAsync(given), given), given.name);
  }

  /**
   * Returns the injection token of a class of the authority with this name, for the `inject` of a factory
   * and for `overrideProvider()` of a test. The decorator `InjectSessionAuth` injects it.
   */
  static getToken(name: string, provided: ProvidedClass = SessionAuthService): InjectionToken {
    return authorityToken(name, provided);
  }

  /**
   * Returns a plugin that opens a kind of context for handlers without Nest's decorators: a framework builds
   * them, and calls them in a context of this kind. Handlers with the decorators of `@nestjs/graphql`,
   * `@nestjs/microservices` or `@nestjs/websockets` need no plugin.
   */
  static contextKind(name: 'graphql' | 'rpc' | 'ws'): SessionAuthPlugin {
    return contextKind(name);
  }

  /**
   * Subscribes to the revocations of other instances, and finds or creates the policies and the loader of
   * users. An unavailable store does not delay the start. @throws InvalidConfigurationError if one can't be created
   */
  async onModuleInit(): Promise<void> {
    this.parts.verifier.revoker.subscribe();
    await this.parts.loadHandlers();
    await this.parts.localUsers?.prepare(this.modules);
  }

  /**
   * Audits the application, and loads undici once it has started. @throws InvalidConfigurationError if there
   * is a finding that stops it
   */
  onApplicationBootstrap(): void {
    this.audit();
    setImmediate(() => void this.parts.requests.load());
  }

  /**
   * Nest calls it after every server has closed. Calls in flight keep the rest of their deadline, at most
   * `timeoutMs`; later calls are unavailable. Then the connections close, so that none keeps the process
   * alive.
   */
  async onApplicationShutdown(): Promise<void> {
    const { causes, deadlines, events, requests, verifier } = this.parts;
    await deadlines.close();
    causes.close();
    events.complete();
    await Promise.all([requests.close(), verifier.close()]);
  }
}

/**
 * A named authority. Its providers depend on the name; none of them has the token of one of the
 * default authority.
 */
@Module({ imports: [], providers: [], exports: [] })
class NamedSessionAuthModule extends SessionAuthModule {}

/** @throws InvalidConfigurationError if there are no options */
function rejectMissing(options: unknown, call: string): void {
  if (typeof options !== 'object' || options === null)
    throw new InvalidConfigurationError(`SessionAuthModule has no options. Write SessionAuthModule.${call}.`);
}

/** Lets a class of options without its method stop the start with a message. */
function checkingFactory(
  definition: DynamicModule,
  { useClass, useExisting }: SessionAuthAsyncOptions,
): DynamicModule {
  const given = useClass ?? useExisting;
  if (!given) return definition;
  const check = (provider: Provider): Provider => {
    const { provide, useFactory } = provider as FactoryProvider<unknown>;
    if (provide !== MODULE_OPTIONS_TOKEN) return provider;
    const checked = (factory?: Partial<SessionAuthOptionsFactory>): unknown => {
      if (typeof factory?.createSessionAuthOptions === 'function') return useFactory(factory);
      throw new InvalidConfigurationError(
        `SessionAuthModule: ${(given as Type).name} has no createSessionAuthOptions(). Add the method, which returns { baseUrl, apiKey }.`,
      );
    };
    return { ...(provider as FactoryProvider), useFactory: checked };
  };
  return { ...definition, providers: (definition.providers ?? []).map(check) };
}

/** Returns an authority under its name, if it has one. */
function named(definition: DynamicModule, name: string = DEFAULT_AUTHORITY): DynamicModule {
  if (name === DEFAULT_AUTHORITY) return definition;
  const authority = namedAuthority(name);
  return {
    ...definition,
    module: NamedSessionAuthModule,
    providers: [...authority.providers, ...(definition.providers ?? [])],
    exports: [...authority.exports, ...(definition.exports ?? [])],
  };
}
