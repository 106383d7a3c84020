import type { FactoryProvider, Provider } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { SessionContext } from '../../guard/context/session-context.js';
import { SessionRelay } from '../relay/session-relay.js';
import { SETTINGS } from '../settings/settings-providers.js';
import type { SessionAuthSettings } from '../settings/settings.js';
import { runEveryCall } from './call-runners.js';
import { InjectionCheck } from './injection-check.js';

const sessionContext: FactoryProvider<SessionContext> = {
  provide: SessionContext,
  useFactory: ({ asyncContext }: SessionAuthSettings, modules: ModulesContainer, config: ApplicationConfig) => {
    if (asyncContext) runEveryCall(modules, config);
    return new SessionContext(asyncContext);
  },
  inject: [SETTINGS, ModulesContainer, ApplicationConfig],
};

const relay: FactoryProvider<SessionRelay> = {
  provide: SessionRelay,
  useFactory: (session: SessionContext) => new SessionRelay(session),
  inject: [SessionContext],
};

const injectionCheck: FactoryProvider<InjectionCheck> = {
  provide: InjectionCheck,
  useFactory: ({ asyncContext }: SessionAuthSettings, modules: ModulesContainer, ...unusable: object[]) =>
    new InjectionCheck(modules, asyncContext ? [] : unusable),
  inject: [SETTINGS, ModulesContainer, SessionContext, SessionRelay],
};

/** The providers of the current call. They change nothing in an application without `asyncContext`. */
export const CONTEXT_PROVIDERS: Provider[] = [sessionContext, relay, injectionCheck];
