import type { SessionAuthPlugin } from './plugins.js';

/** Extras of `forRoot` and `forRootAsync`, next to the options. */
export interface SessionAuthExtras {
  /**
   * Name of a further session service: 1 to 64 letters, digits, dots, hyphens and underscores.
   * `@SessionAuthority(name)` has it check the calls of a handler, `@InjectSessionAuth(name)` injects its
   * service. The registration without a name checks all other calls. @default 'default'
   */
  readonly name?: string;
  /** Makes the guard and the service available in every module without an import. @default true */
  readonly isGlobal?: boolean;
  /**
   * Registers the guard for the whole application; `@Public()` opens single handlers. Covers routes,
   * resolvers, gateways and message handlers, those of a hybrid application included. @default false
   */
  readonly protectAllRoutes?: boolean;
  /**
   * Parts of the library that few applications need: `sessionSockets` of `nestjs-session-auth/sockets`,
   * `sessionContext` of `nestjs-session-auth/context`. @default []
   */
  readonly plugins?: readonly SessionAuthPlugin[];
}
