import {
  Inject,
  Module,
  type DynamicModule,
  type FactoryProvider,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
  type Type,
} from '@nestjs/common';
import { ApplicationConfig, ModuleRef, ModulesContainer } from '@nestjs/core';
import { holdProcess } from '../client/deadline.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { CurrentUserRecord } from '../guard/current-user.decorator.js';
import { contextKind, ContextKindsModule } from './context-kinds.module.js';
import { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } from './module-definition.js';
import type { SessionAuthPlugin } from './options/plugins.js';
import type {
  SessionAuthAsyncOptions,
  SessionAuthExtras,
  SessionAuthOptions,
  SessionAuthOptionsFactory,
} from './options/options.js';
import { registrationModule } from './providers.js';
import { rejectMisplacedOptions, type SessionAuthSettings } from './settings/settings.js';
import { rejectUnopenedParts } from './unopened-parts.js';
import { REGISTRATION, type Registration } from './wiring.js';

type AuditApplication = (
  modules: ModulesContainer,
  config: ApplicationConfig,
  settings: SessionAuthSettings,
) => Promise<void>;

/** Without the folder, its line goes: `npm run parts`. */
const AUDIT: { readonly load?: () => Promise<{ readonly auditApplication: AuditApplication }> } = {
  load: () => import('../audit/boot-audit.js'),
};

/** Registers the guard and the service for one session service and one application key. */
@Module({
  imports: [ContextKindsModule],
  // `forRoot()` and `forRootAsync()` replace it.
  providers: [{ provide: REGISTRATION, useFactory: rejectMissingOptions }],
})
export class SessionAuthModule
  extends ConfigurableModuleClass
  implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown
{
  /** @internal Created by Nest. */
  constructor(
    @Inject(REGISTRATION) private readonly registration: Registration,
    @Inject(ModuleRef) private readonly ref: ModuleRef,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(ApplicationConfig) private readonly config: ApplicationConfig,
  ) {
    super();
  }

  /**
   * Registers the module with options.
   *
   * @example
   * ```ts
   * SessionAuthModule.forRoot({ baseUrl: 'https://sessions.example.com/api', apiKey: 'your-application-key' });
   * ```
   * @throws InvalidConfigurationError naming the extra; at bootstrap, naming the option
   */
  static override forRoot<User extends CurrentUserRecord = CurrentUserRecord>(
    options: SessionAuthOptions<User> & SessionAuthExtras,
  ): DynamicModule {
    const given = options as SessionAuthOptions & SessionAuthExtras;
    rejectMissing(given, 'forRoot({ baseUrl, apiKey })');
    return registrationModule(super.forRoot(given), given);
  }

  /**
   * Registers the module with options from a factory, a class or an existing provider.
   *
   * @example
   * ```ts
   * SessionAuthModule.forRootAsync({
   *   protectAllRoutes: true, // beside useFactory
   *   useFactory: () => ({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' }),
   * });
   * ```
   * @throws InvalidConfigurationError naming the extra; at bootstrap, naming the option
   */
  static override forRootAsync<User extends CurrentUserRecord = CurrentUserRecord>(
    options: SessionAuthAsyncOptions<User> & SessionAuthExtras,
  ): DynamicModule {
    const given = options as unknown as SessionAuthAsyncOptions & SessionAuthExtras;
    rejectMissing(given, 'forRootAsync({ useFactory })');
    rejectMisplacedOptions(given);
    return registrationModule(checkingFactory(super.forRootAsync(given), given), given);
  }

  /**
   * Returns a plugin that opens a kind of context for handlers without Nest's decorators, which a framework
   * builds, and calls in a context of this kind.
   */
  static contextKind(name: 'graphql' | 'rpc' | 'ws'): SessionAuthPlugin {
    return contextKind(name);
  }

  /** Subscribes to the revocations of other instances: an unavailable store does not delay the start. */
  async onModuleInit(): Promise<void> {
    rejectUnopenedParts(this.modules);
    this.registration.verifier.revoker.subscribe();
    await this.registration.loadHandlers();
    await this.registration.localUsers?.prepare(this.ref);
  }

  /** Loads undici once the application has started. */
  async onApplicationBootstrap(): Promise<void> {
    const { requests, settings } = this.registration;
    const part = settings.audit === 'off' ? undefined : await AUDIT.load?.();
    await part?.auditApplication(this.modules, this.config, settings);
    setImmediate(() => void requests.load());
  }

  /**
   * After every server has closed, calls in flight keep the rest of their deadline, at most `timeoutMs`; later
   * calls are unavailable. Then the connections close, so that none keeps the process alive.
   */
  onApplicationShutdown(): Promise<void> {
    return holdProcess(() => shutDown(this.registration));
  }
}

async function shutDown({ causes, deadlines, events, requests, verifier }: Registration): Promise<void> {
  await deadlines.close();
  causes.close();
  events.complete();
  await Promise.all([requests.close(), verifier.close()]);
}

function rejectMissingOptions(): never {
  throw new InvalidConfigurationError(
    'SessionAuthModule is imported without options. Import SessionAuthModule.forRoot({ baseUrl, apiKey }) in the root module: other modules need no import.',
  );
}

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
