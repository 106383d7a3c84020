import type { ExecutionContext } from '@nestjs/common';
import type { UserRecord } from '../contract/record/user-record.js';
import type { SessionVerifier } from '../verifier/session-verifier.js';
import type { FailedRule } from './access/access-rule.js';
import type { AccessRules } from './access/access-metadata.js';
import type { Authorities } from './authorities.js';
import type { Decisions } from './decisions.js';
import type { SessionReader } from './session/session-reader.js';

/** The dependencies of a guard. Nest creates a guard in each module that names it; all of them share the same parts. */
export interface GuardParts {
  readonly rules: AccessRules;
  /** Reads the session that a call presents. */
  readonly reader: SessionReader;
  readonly verifier: SessionVerifier<UserRecord>;
  /** Name of the registration. */
  readonly authority: string;
  /** The other registrations. Only the parts of the registration without a name have them. */
  readonly authorities?: Authorities | undefined;
  readonly decisions: Decisions;
  /** Time for a rule that returns a promise, in milliseconds. */
  readonly ruleTimeoutMs: number;
  /** Called for each rule that could not be evaluated. */
  readonly ruleFailed: (rule: FailedRule, context: ExecutionContext) => void;
}

/** Injection token of {@link GuardParts}. All copies of this package share it. */
export const GUARD_PARTS = Symbol.for('nestjs-session-auth:guard-parts');
