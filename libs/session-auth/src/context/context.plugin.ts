import type { FactoryProvider } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { SessionAuthPlugin } from '../module/options/plugins.js';
import { runEveryCall } from './call-runners.js';
import { currentCall } from './current-call.js';
import { SessionContext } from './session-context.js';
import { SessionRelay } from './session-relay.js';

const context: FactoryProvider<SessionContext> = {
  provide: SessionContext,
  useFactory: (modules: ModulesContainer, config: ApplicationConfig) => {
    runEveryCall(modules, config);
    return new SessionContext(currentCall);
  },
  inject: [ModulesContainer, ApplicationConfig],
};

const relay: FactoryProvider<SessionRelay> = {
  provide: SessionRelay,
  useFactory: (session: SessionContext) => new SessionRelay(session),
  inject: [SessionContext],
};

/** It sets the current call of the whole application, so that two authorities would set it twice. */
const rejection: FactoryProvider<never> = {
  provide: Symbol('session context of a name'),
  useFactory: () => {
    throw new InvalidConfigurationError(
      'sessionContext is in the plugins of a named authority. Name it in those of the default authority, for all of them.',
    );
  },
};

/**
 * Provides the user and the session of the current call, as `SessionContext` and `SessionRelay`. Each call of
 * a handler then costs an interceptor and an `AsyncLocalStorage`.
 *
 * @example
 * ```ts
 * SessionAuthModule.forRoot({ baseUrl: 'https://…', apiKey: '…', plugins: [sessionContext] });
 * class AuditTrail {
 *   constructor(private readonly context: SessionContext) {}
 *   log() { console.log(this.context.user.username); }
 * }
 * ```
 */
export const sessionContext: SessionAuthPlugin = {
  open: (authority) =>
    authority === DEFAULT_AUTHORITY
      ? { providers: [context, relay], exports: [SessionContext, SessionRelay] }
      : { providers: [rejection], exports: [] },
};
