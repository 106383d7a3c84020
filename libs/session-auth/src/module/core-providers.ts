import { Scope, type FactoryProvider, type InjectionToken, type Provider } from '@nestjs/common';
import { Deadlines } from '../client/deadline.js';
import { RequestSender } from '../client/request-sender.js';
import type { SessionHttpService } from '../client/session-http.service.js';
import { SessionClient } from '../client/session-client.js';
import type { ReadUser, Warnings } from '../client/user-details-verdict.js';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { BREAKER } from '../contract/diagnostics.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { SessionCache } from '../verifier/session-cache.js';
import { KnownSessions, MIN_KNOWN_SESSIONS } from '../verifier/known-sessions.js';
import { type BreakerChanged, type CallService, Lanes } from '../verifier/lanes.js';
import { MisconfigurationDetector, ServiceStatusTracker } from '../verifier/service-status.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import type { SharedTier, SharedTierReports, SharedTierSettings } from '../verifier/shared-tier.js';
import type { AuthorityTokens } from './authorities/authority-tokens.js';
import { EventSource } from './events/event-source.js';
import { SETTINGS, type SessionAuthSettings } from './settings/settings.js';
import { USER_READER } from './settings/user-reader.js';
import { WarningLog } from './events/warning-log.js';

const LANES = ['known', 'strangers'] as const;

const deadlines: FactoryProvider<Deadlines> = {
  provide: Deadlines,
  useFactory: ({ timeoutMs }: SessionAuthSettings) => new Deadlines(timeoutMs),
  inject: [SETTINGS],
};

const sender: FactoryProvider<RequestSender> = {
  provide: RequestSender,
  useFactory: ({ maxInFlight, timeoutMs, http }: SessionAuthSettings, log: WarningLog) =>
    new RequestSender({
      ...http,
      maxConnections: maxInFlight,
      connectTimeoutMs: timeoutMs,
      tlsFailed: (code) => log.tlsFailed(code),
      loadFailed: (error) => log.loadFailed(error),
    }),
  inject: [SETTINGS, WarningLog],
};

/** Transient, so that Nest creates it only where it is injected: one service, which loads axios. */
const httpAs = (provide: InjectionToken): FactoryProvider<SessionHttpService> => ({
  provide,
  scope: Scope.TRANSIENT,
  useFactory: (requests: RequestSender) => requests.http(),
  inject: [RequestSender],
});

const clientAs = (provide: InjectionToken): FactoryProvider<SessionClient<UserRecord>> => ({
  provide,
  useFactory: (
    set: SessionAuthSettings,
    readUser: ReadUser<UserRecord>,
    requests: RequestSender,
    log: WarningLog,
  ) => new SessionClient(requests, set, readUser, warningsTo(log, set, requests)),
  inject: [SETTINGS, USER_READER, RequestSender, WarningLog],
});

/**
 * Replaces the connections when a token does not match: a connection may deliver each reply to the next
 * caller.
 */
function warningsTo(log: WarningLog, { tokenEcho }: SessionAuthSettings, requests: RequestSender): Warnings {
  const tokenMismatch = (): void => {
    log.tokenMismatch();
    if (tokenEcho === 'deny') requests.renew();
  };
  return {
    unexpectedReply: (status) => log.unexpectedReply(status),
    tokenMismatch,
    cachingForbidden: () => log.cachingForbidden(),
  };
}

/** Returns the providers of the client. */
export function clientProviders({ http, client }: AuthorityTokens): Provider[] {
  return [deadlines, sender, httpAs(http), clientAs(client)];
}

type SharedTierClass = new (
  settings: SharedTierSettings,
  readUser: ReadUser<UserRecord>,
  reports: SharedTierReports,
) => SharedTier<UserRecord>;

/** The parts that are loaded if an option needs them. */
const LOADED_BY_USE: { readonly fleet?: () => Promise<{ readonly Fleet: SharedTierClass }> } = {
  fleet: () => import('../fleet/fleet.js'),
};

/** Creates the verifier, with the parts that the options enable. */
async function verifierOf(
  sessions: SessionClient<UserRecord>,
  deadlines: Deadlines,
  set: SessionAuthSettings,
  readUser: ReadUser<UserRecord>,
  log: WarningLog,
  events: EventSource,
): Promise<SessionVerifier<UserRecord>> {
  const watch = new ServiceStatusTracker((status) => events.serviceStatus.next(status));
  const check = checkOf(sessions, deadlines, set, breakerReporter(set.authority, watch, events));
  const fleet = set.shared && (await LOADED_BY_USE.fleet?.());
  return new SessionVerifier(check, {
    authority: set.authority,
    cache: set.cache && new SessionCache(set.cache),
    shared: set.shared && fleet && new fleet.Fleet(set.shared, readUser, reportsTo(log, watch)),
    misconfiguration: new MisconfigurationDetector((misconfiguration) => {
      watch.setMisconfigurationSuspected(misconfiguration !== undefined);
      if (misconfiguration) log.misconfigurationSuspected(misconfiguration);
      else log.sessionsAcceptedAgain();
    }),
    onRevoked: (tokenKey) => events.emitEnded(tokenKey),
    onEvicted: (tokenKey) => events.emitEvicted(tokenKey),
    onUsersRevoked: (username) => events.forgottenUsers.next(username),
    listenerFailed: () =>
      log.warn(
        'listener failed',
        'a listener of ended sessions threw. Report it: it is a fault of this library.',
      ),
  });
}

/** Returns the provider of the verifier. */
export const verifierProvider = (client: InjectionToken): FactoryProvider<SessionVerifier<UserRecord>> => ({
  provide: SessionVerifier,
  useFactory: verifierOf,
  inject: [client, Deadlines, SETTINGS, USER_READER, WarningLog, EventSource],
});

/** Creates the check that calls the service and reports the state of its breakers. */
function checkOf(
  sessions: SessionClient<UserRecord>,
  deadlines: Deadlines,
  set: SessionAuthSettings,
  breakerChanged: BreakerChanged,
) {
  const callService: CallService<UserRecord> = (session, deadline) => sessions.userDetails(session, deadline);
  const known = new KnownSessions(
    Math.max(set.cache?.maxEntries ?? 0, MIN_KNOWN_SESSIONS),
    undefined,
    set.identityFields,
  );
  return new Lanes(callService, deadlines, { ...set, ...set.retry }, { known, breakerChanged });
}

/**
 * Returns what reports each new state of a breaker, until the application has shut down: a pause may end
 * later.
 */
function breakerReporter(
  authority: string,
  watch: ServiceStatusTracker,
  events: EventSource,
): BreakerChanged {
  const publish: BreakerChanged = (lane, state) => {
    if (BREAKER.hasSubscribers) BREAKER.publish({ authority, lane, state });
  };
  // Subscribers know the lanes of the registration without a name.
  if (authority !== DEFAULT_AUTHORITY) for (const lane of LANES) publish(lane, 'closed');
  return (lane, state) => {
    if (events.isComplete) return;
    watch.setBreaker(lane, state);
    publish(lane, state);
  };
}

function reportsTo(log: WarningLog, watch: ServiceStatusTracker): SharedTierReports {
  return {
    failed: () => log.storeUnavailable(),
    clockDiffers: () => log.clockDiffers(),
    unreadable: () => {
      if (watch.countUnreadableMessage()) log.unreadableMessages();
    },
    lost: (count) => log.revocationsLost(count),
    busStateChanged: (state, reason) => {
      watch.setRevocationBus(state);
      if (state === 'interrupted') log.revocationBusInterrupted(reason);
    },
  };
}
