import type { ExecutionContext } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { AccessRule } from './access-rule.js';
import type { AccessRules } from './access-rules.js';
import type { SessionReader } from './token-source.js';
import type { DecisionReports } from './decision-reports.js';
import type { HttpRequest } from './http-request.js';
import type { NestModule } from './nest-container.js';
import type { WatchParts, GuardedCall } from './transport.js';

/** The authorities of an application, as the guard of the default authority selects them. */
export interface Authorities {
  /** Whether the option `authority` selects an authority for each call. */
  readonly arePerCall: boolean;
  /**
   * Returns the parts of the authority that the option `authority` selects for a call or a connection: `own`
   * are those of the default one. `undefined` if there is no such authority.
   */
  partsOf(context: ExecutionContext, request: HttpRequest, own: GuardParts): GuardParts | undefined;
  /** As `partsOf()`, for a name. */
  named(name: string, own: GuardParts): GuardParts | undefined;
}

/** The registrations of an application with several. */
export interface Registrations {
  /**
   * Returns the parts of the registration that checks the handlers of a class; `undefined` if it has none, or
   * several.
   */
  partsOf(owner: object): GuardParts | undefined;
}

/** Checks calls in the place of the guard, which admits them in any case. */
export interface Reporter {
  /** Returns whether the guard admits all calls of a handler with this rule. */
  covers(rule: AccessRule): boolean;
  report(context: ExecutionContext, parts: GuardParts, check: (call: GuardedCall) => unknown): void;
}

/** The objects that plugins and guards of an authority share: Nest creates a guard in each module that names it. */
export interface GuardParts extends WatchParts {
  readonly rules: AccessRules;
  readonly reader: SessionReader;
  readonly authority: string;
  /** The other authorities. Only the parts of the default authority have them. */
  readonly authorities?: Authorities | undefined;
  /** Absent if the application has one registration. */
  readonly registrations?: Registrations | undefined;
  readonly decisions: DecisionReports;
  /** Set if the option or the decorator is used, once the application is initialized. */
  readonly reportOnly?: Reporter | undefined;
  /** Time for a rule that returns a promise, in milliseconds. */
  readonly ruleTimeoutMs: number;
}

/** All copies of this package share it. */
export const GUARD_PARTS = Symbol.for('nestjs-session-auth:guard-parts');

/** Returns whether a module gives others the guard of one authority, which names none. */
export function isRegistration(module: NestModule): boolean {
  return module.providers.has(GUARD_PARTS) && module.exports.has(GUARD_PARTS);
}

/** @param guard the class of the guard: `SessionAuthGuard` or a subclass */
export function rejectMissingModule(guard: unknown, modules: ModulesContainer | undefined): never {
  const names = modulesWith(guard, modules).join(', ') || 'A module';
  throw new InvalidConfigurationError(
    `${names} has SessionAuthGuard, or a rule such as @Roles(), and does not reach SessionAuthModule. Import SessionAuthModule.forRoot() in the root module; with isGlobal: false, import that authority here too. In a unit test, use overrideGuard(SessionAuthGuard), or TestSessions of nestjs-session-auth/testing.`,
  );
}

function modulesWith(guard: unknown, modules: ModulesContainer | undefined): string[] {
  return [...(modules?.values() ?? [])]
    .filter(({ injectables, providers }) => injectables.has(guard as never) || providers.has(guard as never))
    .filter(
      ({ imports, providers }) =>
        !providers.has(GUARD_PARTS) && ![...imports].some((other) => other.exports.has(GUARD_PARTS)),
    )
    .map(({ metatype }) => metatype.name);
}

/**
 * Returns the name of the authority that checks a call: that of a tenant or a region, or `'default'`. In
 * every kind of context, `request.headers` has lower-case names; over a socket, they are those of the request
 * that opened it. An exception, and any value that is not the name of an authority, such as a promise, deny
 * the call: 401.
 */
export type AuthorityResolver = (context: ExecutionContext, request: HttpRequest) => string;
