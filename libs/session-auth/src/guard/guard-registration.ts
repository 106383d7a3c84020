import type { ExecutionContext } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { AccessRule } from './access-rule.js';
import type { AccessRules } from './access-rules.js';
import type { SessionReader } from './token-source.js';
import type { DecisionReports } from './decision-reports.js';
import type { NestModule } from './nest-container.js';
import type { WatchRegistration, GuardedCall } from './transport.js';

/** The registrations of an application with several. */
export interface Registrations {
  /** Returns the one that checks the handlers of a class; `undefined` if the class has none, or several. */
  registrationOf(owner: object): GuardRegistration | undefined;
}

/** Checks calls in the place of the guard, which admits them in any case. */
export interface Reporter {
  /** Returns whether the guard admits all calls of a handler with this rule. */
  covers(rule: AccessRule): boolean;
  report(
    context: ExecutionContext,
    registration: GuardRegistration,
    check: (call: GuardedCall) => unknown,
  ): void;
}

/** A registration, as its guards and plugins see it. Nest creates a guard in each module that names it. */
export interface GuardRegistration extends WatchRegistration {
  readonly rules: AccessRules;
  readonly reader: SessionReader;
  /** Absent if the application has one registration. */
  readonly registrations?: Registrations | undefined;
  readonly decisions: DecisionReports;
  /** Set if the option or the decorator is used, once the application is initialized. */
  readonly reportOnly?: Reporter | undefined;
  /** Time for a rule that returns a promise, in milliseconds. */
  readonly ruleTimeoutMs: number;
}

/** All copies of this package share it. */
export const GUARD_REGISTRATION = Symbol.for('nestjs-session-auth:guard-registration');

/** Returns whether a module gives others the guard of one session service. */
export function isRegistration(module: NestModule): boolean {
  return module.providers.has(GUARD_REGISTRATION) && module.exports.has(GUARD_REGISTRATION);
}

/** @param guard the class of the guard: `SessionAuthGuard` or a subclass */
export function rejectMissingModule(guard: unknown, modules: ModulesContainer | undefined): never {
  const names = modulesWith(guard, modules).join(', ') || 'A module';
  throw new InvalidConfigurationError(
    `${names} has SessionAuthGuard, or a rule such as @Roles(), and does not reach SessionAuthModule. Import SessionAuthModule.forRoot() in the root module; with isGlobal: false, import that registration here too. In a unit test, use overrideGuard(SessionAuthGuard), or TestSessions of nestjs-session-auth/testing.`,
  );
}

function modulesWith(guard: unknown, modules: ModulesContainer | undefined): string[] {
  return [...(modules?.values() ?? [])]
    .filter(({ injectables, providers }) => injectables.has(guard as never) || providers.has(guard as never))
    .filter(
      ({ imports, providers }) =>
        !providers.has(GUARD_REGISTRATION) &&
        ![...imports].some((other) => other.exports.has(GUARD_REGISTRATION)),
    )
    .map(({ metatype }) => metatype.name);
}
