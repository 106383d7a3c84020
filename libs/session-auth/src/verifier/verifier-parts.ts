import type { SessionCache } from './cache/session-cache.js';
import type { MisconfigurationDetector } from './misconfiguration-detector.js';
import type { RevocationNotifier } from './revocation/revocation-notifier.js';
import type { SharedTier } from './shared/shared-tier.js';

/** Optional collaborators of a `SessionVerifier`. */
export interface VerifierParts<User extends object> {
  /** Name of the registration, for diagnostics. @default 'default' */
  readonly authority?: string | undefined;
  /** Session cache of this instance. */
  readonly cache?: SessionCache<User> | undefined;
  /** Shared tier of all instances. It is looked up after `cache`, and requires it. */
  readonly shared?: SharedTier<User> | undefined;
  readonly misconfiguration?: MisconfigurationDetector | undefined;
  readonly notifier?: RevocationNotifier | undefined;
  /** Called when every session of a user, or every session, is revoked. */
  readonly onUsersRevoked?: ((username: string | undefined) => void) | undefined;
}
