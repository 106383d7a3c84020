import type { FactoryProvider } from '@nestjs/common';
import { Deadlines } from '../client/deadlines.js';
import { SessionClient } from '../client/session-client.js';
import type { ReadUser } from '../client/user-details-verdict.js';
import { BREAKER } from '../contract/diagnostics.js';
import type { UserRecord } from '../contract/user-record.js';
import { EndedSessions } from '../verifier/ended-sessions.js';
import { KnownSessions, MIN_KNOWN_SESSIONS } from '../verifier/lanes/known-sessions.js';
import type { Ask } from '../verifier/lanes/lane.js';
import type { BreakerChanged } from '../verifier/lanes/lanes.js';
import { ProtectedCheck } from '../verifier/protected-check.js';
import { ServiceWatch } from '../verifier/service-state.js';
import { SessionMemory } from '../verifier/session-memory.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import type { SharedTierReports } from '../verifier/shared/shared-tier-settings.js';
import { SharedTier } from '../verifier/shared/shared-tier.js';
import { Suspicion } from '../verifier/suspicion.js';
import { NoticeLog } from './notice-log.js';
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
    log: NoticeLog,
    events: SessionAuthEvents,
  ) => {
    const watch = new ServiceWatch((status) => events.tellServiceStatus(status));
    const check = checkOf(sessions, deadlines, set, watch);
    return new SessionVerifier(check, {
      memory: set.memory && new SessionMemory(set.memory),
      shared: set.shared && new SharedTier(set.shared, readUser, reportsTo(log, watch)),
      suspicion: new Suspicion((suspected) => {
        watch.suspects(suspected);
        if (suspected) log.everyoneRefused();
      }),
      ended: new EndedSessions((token) => events.tellEnded(token)),
      usersEnded: (username) => events.tellUsersEnded(username),
    });
  },
  inject: [SessionClient, Deadlines, SETTINGS, USER_READER, NoticeLog, SessionAuthEvents],
};

/** What asks the service, and tells how its breakers do. */
function checkOf(sessions: SessionClient<UserRecord>, deadlines: Deadlines, set: SessionAuthSettings, watch: ServiceWatch) {
  const ask: Ask<UserRecord> = (session, deadline) => sessions.userDetails(session, deadline);
  const known = new KnownSessions(Math.max(set.memory?.maxEntries ?? 0, MIN_KNOWN_SESSIONS));
  const breakerChanged: BreakerChanged = (lane, state) => {
    watch.breakerIs(lane, state);
    if (BREAKER.hasSubscribers) BREAKER.publish({ lane, state });
  };
  return new ProtectedCheck(ask, deadlines, set.protection, { known, breakerChanged });
}

function reportsTo(log: NoticeLog, watch: ServiceWatch): SharedTierReports {
  return {
    failed: () => log.storeUnavailable(),
    clockDiffers: () => log.clockDiffers(),
    busIs: (state, reason) => {
      watch.busIs(state);
      if (state === 'interrupted') log.busInterrupted(reason);
    },
  };
}
