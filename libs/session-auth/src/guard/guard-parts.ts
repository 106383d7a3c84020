import type { UserRecord } from '../contract/record/user-record.js';
import type { SessionVerifier } from '../verifier/session-verifier.js';
import type { AccessRules } from './access/access-metadata.js';
import type { PresentedSessions } from './session/presented-session.js';

/** What a guard works with. Nest builds a guard in each module that names it; the parts are one for all. */
export interface GuardParts {
  readonly rules: AccessRules;
  readonly presented: PresentedSessions;
  readonly verifier: SessionVerifier<UserRecord>;
}

/** Injection token of {@link GuardParts}. Nest prints it where a guard is named and the module is not imported, so it says what to import. */
export const GUARD_PARTS = Symbol.for('nestjs-session-auth: SessionAuthModule.forRoot()');
