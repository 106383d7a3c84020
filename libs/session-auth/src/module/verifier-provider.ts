import type { FactoryProvider } from '@nestjs/common';
import { Deadlines } from '../client/deadlines.js';
import { SessionClient } from '../client/session-client.js';
import type { ReadUser } from '../client/user-details-verdict.js';
import { BREAKER } from '../contract/diagnostics.js';
import type { UserRecord } from '../contract/user-record.js';
import { RevocationNotifier } from '../verifier/ended-sessions.js';
import { KnownSessions, MIN_KNOWN_SESSIONS } from '../verifier/lanes/known-sessions.js';
import type { Ask } from '../verifier/lanes/lane.js';
import type { BreakerChanged } from '../verifier/lanes/lanes.js';
import { ProtectedCheck } from '../verifier/protected-check.js';
import { ServiceStatusTracker } from '../verifier/service-state.js';
import { SessionCache } from '../verifier/session-memory.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import type { SharedTierReports } from '../verifier/shared/shared-tier-settings.js';
import { SharedTier } from '../verifier/shared/shared-tier.js';
import { MisconfigurationDetector } from '../verifier/suspicion.js';
import { WarningLog } from './notice-log.js';
import { SessionAuthEvents } from './session-auth-events.js';
import { SETTINGS, USER_READER } from './settings-providers.js';
import type { SessionAuthSettings } from './settings/settings.js';

/** The verifier with its parts: as many as the options ask for. */
export const VERIFIER_PROVIDER: FactoryProvider<SessionVerifier<UserRecord>> = {
  provide: SessionVerifier,
  useFactory: (
    sessions: SessionClient<UserRecord>,
    deadlines: Deadlines,
    set: SessionAuthSettings,
    readUser: ReadUser<UserRecord>,
    log: WarningLog,
    events: SessionAuthEvents,
  ) => {
    const watch = new ServiceStatusTracker((status) => events.tellServiceStatus(status));
    const check = checkOf(sessions, deadlines, set, watch);
    return new SessionVerifier(check, {
      cache: set.cache && new SessionCache(set.cache),
      shared: set.shared && new SharedTier(set.shared, readUser, reportsTo(log, watch)),
      misconfiguration: new MisconfigurationDetector((suspected) => {
        watch.setMisconfigurationSuspected(suspected);
        if (suspected) log.misconfigurationSuspected();
      }),
      notifier: new RevocationNotifier((token) => events.tellEnded(token)),
      onUsersRevoked: (username) => events.tellUsersEnded(username),
    });
  },
  inject: [SessionClient, Deadlines, SETTINGS, USER_READER, WarningLog, SessionAuthEvents],
};

/** What asks the service, and tells how its breakers do. */
function checkOf(sessions: SessionClient<UserRecord>, deadlines: Deadlines, set: SessionAuthSettings, watch: ServiceStatusTracker) {
  const ask: Ask<UserRecord> = (session, deadline) => sessions.userDetails(session, deadline);
  const known = new KnownSessions(Math.max(set.cache?.maxEntries ?? 0, MIN_KNOWN_SESSIONS));
  const breakerChanged: BreakerChanged = (lane, state) => {
    watch.setBreaker(lane, state);
    if (BREAKER.hasSubscribers) BREAKER.publish({ lane, state });
  };
  return new ProtectedCheck(ask, deadlines, set.protection, { known, breakerChanged });
}

function reportsTo(log: WarningLog, watch: ServiceStatusTracker): SharedTierReports {
  return {
    failed: () => log.storeUnavailable(),
    clockDiffers: () => log.clockDiffers(),
    busStateChanged: (state, reason) => {
      watch.setRevocationBus(state);
      if (state === 'interrupted') log.busInterrupted(reason);
    },
  };
}
