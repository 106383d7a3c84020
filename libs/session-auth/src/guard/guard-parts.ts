import type { UserRecord } from '../contract/user-record.js';
import type { SessionVerifier } from '../verifier/session-verifier.js';
import type { AccessRules } from './access-rules.js';
import type { PresentedSessions } from './presented-session.js';

/** What a guard works with. Nest builds a guard in each module that names it; the parts are one for all. */
export interface GuardParts {
  readonly rules: AccessRules;
  readonly presented: PresentedSessions;
  readonly verifier: SessionVerifier<UserRecord>;
}

/** Injection token of {@link GuardParts}. */
export const GUARD_PARTS = Symbol.for('nestjs-session-auth.guard-parts');
