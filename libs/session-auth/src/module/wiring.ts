import type { ModulesContainer } from '@nestjs/core';
import { Deadlines } from '../client/deadline.js';
import { RequestSender } from '../client/request-sender.js';
import { SessionClient } from '../client/session-client.js';
import type { ReadUser } from '../client/user-details-verdict.js';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { BREAKER } from '../contract/diagnostics.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { AccessRules, isMarked, type Policies, REPORT_ONLY } from '../guard/access-metadata.js';
import { Decisions } from '../guard/decisions.js';
import type { GuardParts, ReportOnly } from '../guard/guard-parts.js';
import type { WatchParts } from '../guard/open-reply.js';
import { placedHandlersOf, policiesOf } from '../guard/handlers.js';
import { SessionReader } from '../guard/session-reader.js';
import { KnownSessions, MIN_KNOWN_SESSIONS } from '../verifier/known-sessions.js';
import { type BreakerChanged, Lanes } from '../verifier/lanes.js';
import { ServiceStatusTracker } from '../verifier/service-status.js';
import { SessionCache } from '../verifier/session-cache.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import type { SharedTier, SharedTierReports, SharedTierSettings } from '../verifier/shared-tier.js';
import { hasSeveral, type Authority } from './authorities/authority.js';
import type * as Several from './authorities/several-services.js';
import { EventSource, sessionEnds } from './events/event-source.js';
import { Causes } from './events/cause-log.js';
import type { LocalUsers } from '../policies/user-loader.js';
import { checkReport } from './reports.js';
import type { SessionAuthOptions } from './options/options.js';
import { isPlainTextBeyondLoopback, namingAuthority } from './settings/option-checks.js';
import { readSettings, type SessionAuthSettings } from './settings/settings.js';
import { readerFor, readUserWith } from './settings/record-reader.js';

/** The validated options of an authority, and what its client is made of. */
export interface ClientParts {
  readonly settings: SessionAuthSettings;
  /** Loaded if the application registers, or names, several session services. */
  readonly several: typeof Several | undefined;
  readonly causes: Causes;
  readonly readUser: ReadUser<UserRecord>;
  readonly deadlines: Deadlines;
  readonly requests: RequestSender;
}

export const CLIENT_PARTS = Symbol('session-auth client parts');

export interface AuthorityParts extends ClientParts {
  readonly events: EventSource;
  readonly verifier: SessionVerifier<UserRecord>;
  /**
   * Finds the policies of the application, or has them created, and what is checked without an effect.
   * @throws InvalidConfigurationError
   */
  readonly loadHandlers: () => Promise<void>;
  readonly localUsers: LocalUsers | undefined;
  readonly guard: GuardParts;
}

export const PARTS = Symbol('session-auth parts');

/**
 * Reads the options, and creates what the client is made of. @throws InvalidConfigurationError naming an
 * invalid option, or the authorities that Nest could not distinguish
 */
export async function clientPartsOf(
  options: SessionAuthOptions,
  { name, extras }: Authority,
  modules: ModulesContainer,
): Promise<ClientParts> {
  const settings = readSettings(options, name, extras);
  const { authority, resolveAuthority, baseUrl, maxInFlight, timeoutMs, http, userRecord } = settings;
  const isOneOfSeveral = resolveAuthority !== undefined || hasSeveral(modules);
  const several = isOneOfSeveral ? await import('./authorities/several-services.js') : undefined;
  several?.checkAuthorities(modules);
  const causes = new Causes(authority);
  if (process.env.NODE_ENV === 'production' && isPlainTextBeyondLoopback(baseUrl))
    causes.note(
      'plain text',
      'baseUrl is http: and not on this host, so that keys and tokens can be read in transit. Use https.',
    );
  const prepare = await readerFor(userRecord);
  const readUser = namingAuthority(authority, () =>
    // Names the field or the class, and neither the value nor the user.
    readUserWith(settings, prepare, (field, requirement) =>
      causes.occurred('invalid user record', field, requirement),
    ),
  );
  const requests = new RequestSender({
    ...http,
    maxConnections: maxInFlight,
    connectTimeoutMs: timeoutMs,
    connectionFailed: (code) => causes.connectionFailed(code),
    loadFailed: (error) => causes.occurred('no HTTP client', '', String(error)),
  });
  return { settings, several, causes, readUser, deadlines: new Deadlines(timeoutMs), requests };
}

export function clientOf({ settings, causes, readUser, requests }: ClientParts): SessionClient<UserRecord> {
  return new SessionClient(requests, settings, readUser, causes);
}

export async function partsOf(
  clientParts: ClientParts,
  client: SessionClient<UserRecord>,
  modules: ModulesContainer,
): Promise<AuthorityParts> {
  const { settings, several, causes } = clientParts;
  const { authority, impersonatorField, timeoutMs: ruleTimeoutMs, whileOpen } = settings;
  const { token: sources, forwardAuthIv, http } = settings;
  const events = new EventSource();
  const watch = new ServiceStatusTracker((status) => events.serviceStatus.next(status));
  const verifier = await verifierOf(clientParts, client, events, watch);
  const used: UsedParts = {};
  const loader = settings.loadUser;
  const localUsers = loader && new (await import('../policies/user-loader.js')).LocalUsers(loader);
  const guard: GuardParts = {
    rules: new AccessRules(
      { find: (controller, policy) => used.policies?.find(controller, policy) },
      localUsers?.requirement,
    ),
    reader: new SessionReader({ sources, forwardAuthIv, maxTokenLength: http.maxTokenLength }),
    verifier,
    authority,
    authorities:
      authority === DEFAULT_AUTHORITY
        ? several && new several.AuthorityTable(modules, settings.resolveAuthority, causes)
        : undefined,
    decisions: new Decisions(events.decisions, { authority, impersonatorField }),
    ends: sessionEnds(events, verifier),
    whileOpen,
    replyOpened,
    causes,
    ruleTimeoutMs,
  };
  const loadHandlers = async (): Promise<void> => {
    await findUsed(used, modules, clientParts, watch);
    // A value: a getter would run in each check.
    Object.assign(guard, { reportOnly: used.reported });
  };
  return { ...clientParts, events, verifier, loadHandlers, localUsers, guard };
}

/** Loaded with the first reply that is written in parts. */
let endWithSession: WatchParts['replyOpened'] | undefined;

const replyOpened: WatchParts['replyOpened'] = (response, reply) => {
  if (endWithSession) {
    endWithSession(response, reply);
    return;
  }
  response.cork?.();
  void import('../open/open-replies.js').then((loaded) => {
    ({ endWithSession } = loaded);
    loaded.endWithSession(response, reply);
    response.uncork?.();
  });
};

interface UsedParts {
  policies?: Policies | undefined;
  reported?: ReportOnly;
}

/** Nest has created what handlers belong to, which shows where each is placed. */
async function findUsed(
  used: UsedParts,
  modules: ModulesContainer,
  { settings, several, causes }: ClientParts,
  watch: ServiceStatusTracker,
): Promise<void> {
  const placed = placedHandlersOf(modules);
  const handlers = placed.map(({ handler }) => handler);
  if (handlers.some((handler) => policiesOf(handler).length > 0)) {
    const { policiesIn } = await import('../policies/policies.js');
    used.policies = await policiesIn(modules, placed);
  }
  const { reportOnly } = settings;
  if (!reportOnly && !handlers.some(({ called, owner }) => isMarked(REPORT_ONLY, called, owner))) return;
  const { reporterOf } = await import('../guard/report-only.js');
  used.reported = reporterOf(handlers, reportOnly, several !== undefined, causes);
  watch.setReportOnly();
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

/** Loads and creates what the instances share, if there is a store. @throws InvalidConfigurationError */
async function sharedTierOf(
  { settings, causes, readUser }: ClientParts,
  watch: ServiceStatusTracker,
): Promise<SharedTier<UserRecord> | undefined> {
  const { cache } = settings;
  const fleet = cache?.store && (await LOADED_BY_USE.fleet?.());
  if (!cache?.store || !fleet) return undefined;
  const { readStoreSettings, storeReports } = await import('./store-wiring.js');
  const shared = readStoreSettings(cache.store, { ...settings, cache });
  return new fleet.Fleet(shared, readUser, storeReports(causes, watch));
}

async function verifierOf(
  clientParts: ClientParts,
  client: SessionClient<UserRecord>,
  events: EventSource,
  watch: ServiceStatusTracker,
): Promise<SessionVerifier<UserRecord>> {
  const { settings, causes, deadlines } = clientParts;
  const { authority, cache, retry, identityFields } = settings;
  causes.onChange = (...changed) => watch.setCauses(...changed);
  const lanes = new Lanes<UserRecord>(
    (session, deadline) => client.userDetails(session, deadline),
    deadlines,
    { ...settings, ...retry },
    {
      known: new KnownSessions(
        Math.max(cache?.maxEntries ?? 0, MIN_KNOWN_SESSIONS),
        undefined,
        identityFields,
      ),
      breakerChanged: breakerReporter(authority, watch, events),
    },
  );
  return new SessionVerifier(lanes, {
    authority,
    cache: cache && new SessionCache(cache),
    shared: await sharedTierOf(clientParts, watch),
    checked: checkReport(causes, watch),
    onRevoked: (tokenKey) => events.emitEnded(tokenKey),
    onEvicted: (tokenKey) => events.emitEvicted(tokenKey),
    onUsersRevoked: (username) => events.forgottenUsers.next(username),
    listenerFailed: () => causes.occurred('listener failed'),
  });
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
  // Subscribers know the lanes of the default authority.
  if (authority !== DEFAULT_AUTHORITY)
    for (const lane of ['known', 'strangers'] as const) publish(lane, 'closed');
  return (lane, state) => {
    if (events.isComplete) return;
    watch.setBreaker(lane, state);
    publish(lane, state);
  };
}
