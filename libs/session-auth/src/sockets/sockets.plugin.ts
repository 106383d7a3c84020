import { ModulesContainer } from '@nestjs/core';
import { GUARD_REGISTRATION, type GuardRegistration } from '../guard/guard-registration.js';
import type { SessionAuthPlugin } from '../module/options/plugins.js';
import { SessionSockets } from './session-sockets.js';

/**
 * Provides `SessionSockets`, which checks sockets at their handshake and closes them when their session ends.
 *
 * @example
 * ```ts
 * SessionAuthModule.forRoot({ baseUrl: 'https://…', apiKey: '…', plugins: [sessionSockets] });
 * ```
 */
export const sessionSockets: SessionAuthPlugin = {
  open: () => ({
    providers: [
      {
        provide: SessionSockets,
        useFactory: (registration: GuardRegistration, modules: ModulesContainer) =>
          new SessionSockets(registration, modules),
        inject: [GUARD_REGISTRATION, ModulesContainer],
      },
    ],
    exports: [SessionSockets],
  }),
};
