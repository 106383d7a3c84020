import { ModulesContainer } from '@nestjs/core';
import { GUARD_PARTS, type GuardParts } from '../guard/guard-parts.js';
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
        useFactory: (parts: GuardParts, modules: ModulesContainer) => new SessionSockets(parts, modules),
        inject: [GUARD_PARTS, ModulesContainer],
      },
    ],
    exports: [SessionSockets],
  }),
};
