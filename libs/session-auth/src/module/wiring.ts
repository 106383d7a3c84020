import type { ModulesContainer } from '@nestjs/core';
import { Deadlines } from '../client/deadline.js';
import { RequestSender } from '../client/request-sender.js';
import { SessionClient } from '../client/session-client.js';
import { BREAKER } from '../contract/diagnostics.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { ReadUser, UserRecord } from '../contract/record/user-record.js';
import { isReportOnly } from '../guard/access-rule.js';
import { AccessRules, ruleOf } from '../guard/access-rules.js';
import { DecisionReports } from '../guard/decision-reports.js';
import { type GuardRegistration, isRegistration } from '../guard/guard-registration.js';
import { hold, release } from '../guard/held-reply.js';
import type { WatchRegistration } from '../guard/transport.js';
import { placedHandlersOf, policiesOf } from '../guard/handlers.js';
import type { NestModule } from '../guard/nest-container.js';
import { SessionReader } from '../guard/token-source.js';
import { KnownSessions, MIN_KNOWN_SESSIONS } from '../verifier/known-sessions.js';
import { type BreakerChanged, Lanes } from '../verifier/lanes.js';
import { ServiceStatusTracker } from '../verifier/service-status.js';
import { SessionCache } from '../verifier/session-cache.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import type { SharedTier, SharedTierReports, SharedTierSettings } from '../verifier/shared-tier.js';
import { extrasOf } from './module-definition.js';
import type { ModuleRegistrations } from './registrations.js';
import { EventSource } from './events/event-source.js';
import { Causes } from './events/cause-log.js';
import type { LocalUsers } from '../policies/user-loader.js';
import type { SessionAuthExtras, SessionAuthOptions } from './options/options.js';
import { isPlainTextBeyondLoopback } from './settings/option-readers.js';
import { readSettings, type SessionAuthSettings } from './settings/settings.js';
import { readerFor, readUserWith } from './settings/record-reader.js';

export interface ClientSetup {
  readonly settings: SessionAuthSettings;
  /** Loaded if the application has several registrations. */
  readonly registrations: ModuleRegistrations | undefined;
  readonly causes: Causes;
  readonly readUser: ReadUser<UserRecord>;
  readonly deadlines: Deadlines;
  readonly requests: RequestSender;
}

/** Makes the client of a registration: {@link clientOf}. */
export const CLIENT_FACTORY = Symbol('session-auth client factory');

export type ClientFactory = (setup: ClientSetup) => Registration['client'] | Promise<Registration['client']>;

export interface Registration extends ClientSetup {
  readonly client: SessionClient<UserRecord>;
  readonly events: EventSource;
  readonly status: ServiceStatusTracker;
  readonly verifier: SessionVerifier<UserRecord>;
  /** Loads what handlers use, when Nest has placed them. @throws InvalidConfigurationError */
  readonly loadHandlers: () => Promise<void>;
  readonly localUsers: LocalUsers | undefined;
  readonly guard: GuardRegistration;
}

export const REGISTRATION = Symbol('session-auth registration');

/** @throws InvalidConfigurationError naming an invalid option, or a handler with several registrations */
export async function clientSetupOf(
  options: SessionAuthOptions,
  extras: SessionAuthExtras,
  modules: ModulesContainer,
): Promise<ClientSetup> {
  const settings = readSettings(options);
  rejectLazy(modules, extras);
  const { baseUrl, maxInFlight, timeoutMs, http, userRecord } = settings;
  const registrations =
    [...modules.values()].filter(isRegistration).length > 1
      ? new (await import('./registrations.js')).ModuleRegistrations(modules)
      : undefined;
  const causes = new Causes();
  if (process.env.NODE_ENV === 'production' && isPlainTextBeyondLoopback(baseUrl))
    causes.note(
      'plain text',
      'baseUrl is http: and not on this host, so that keys and tokens can be read in transit. Use https.',
    );
  const prepare = await readerFor(userRecord);
  const readUser = readUserWith(settings, prepare);
  const requests = new RequestSender({
    ...http,
    maxConnections: maxInFlight,
    connectionFailed: (code) => causes.attemptFailed('unreachable', code),
    connectionLost: () => causes.occurred('connection lost'),
    loadFailed: (error) => causes.occurred('no HTTP client', '', String(error)),
  });
  const deadlines = new Deadlines(timeoutMs);
  return { settings, registrations, causes, readUser, deadlines, requests };
}

/**
 * Nest applies no guard of the whole application to what `LazyModuleLoader` loads, and calls no hook of it: the
 * root module does not reach it.
 */
function rejectLazy(modules: ModulesContainer, extras: SessionAuthExtras): void {
  // The first is Nest's own.
  const [, root] = modules.values();
  const reached = new Set<NestModule>(root && [root]);
  // A set also yields what is added meanwhile.
  for (const module of reached) for (const imported of module.imports) reached.add(imported);
  if (!root || [...reached].some((module) => extrasOf(module) === extras)) return;
  throw new InvalidConfigurationError(
    'SessionAuthModule is in a module that LazyModuleLoader loads. Register it in the root module, or in a module that it imports.',
  );
}

export function clientOf({ settings, causes, readUser, requests }: ClientSetup): SessionClient<UserRecord> {
  return new SessionClient(requests, settings, readUser, causes);
}

export async function registrationOf(
  setup: ClientSetup,
  client: SessionClient<UserRecord>,
  modules: ModulesContainer,
): Promise<Registration> {
  const { settings, registrations, causes } = setup;
  const { loadUser, timeoutMs: ruleTimeoutMs, whileOpen, token: sources, forwardAuthIv, http } = settings;
  const events = new EventSource();
  const status = new ServiceStatusTracker((changed) => events.serviceStatus.next(changed), causes);
  const verifier = await verifierOf(setup, client, events, status);
  const localUsers = loadUser && (await localUsersOf(loadUser, causes));
  const guard: GuardRegistration = {
    rules: new AccessRules(localUsers?.requirement),
    reader: new SessionReader({
      sources,
      forwardAuthIv,
      maxTokenLength: http.maxTokenLength,
      failed: () => causes.occurred('token source failed'),
    }),
    verifier,
    registrations,
    decisions: new DecisionReports(events.decisions),
    ends: events,
    whileOpen,
    replyOpened,
    causes,
    ruleTimeoutMs,
  };
  const loadHandlers = (): Promise<void> => loadUsed(guard, modules, setup, status);
  return { ...setup, client, events, status, verifier, loadHandlers, localUsers, guard };
}

async function localUsersOf(
  loadUser: NonNullable<SessionAuthSettings['loadUser']>,
  causes: Causes,
): Promise<LocalUsers> {
  const loaded = await import('../policies/user-loader.js');
  return new loaded.LocalUsers(loadUser, () => causes.occurred('no local user'));
}

/** Loaded with the first reply that is written in parts. */
let endWithSession: WatchRegistration['replyOpened'] | undefined;

const replyOpened: WatchRegistration['replyOpened'] = (response, reply) => {
  if (endWithSession) {
    endWithSession(response, reply);
    return;
  }
  hold(response);
  void import('../open/open-replies.js').then((loaded) => {
    ({ endWithSession } = loaded);
    loaded.endWithSession(response, reply);
    release(response);
  });
};

async function loadUsed(
  guard: GuardRegistration,
  modules: ModulesContainer,
  { settings, registrations, causes }: ClientSetup,
  status: ServiceStatusTracker,
): Promise<void> {
  const placed = placedHandlersOf(modules);
  // Again, because factories have provided their values meanwhile.
  registrations?.check(placed);
  const handlers = placed.map(({ handler }) => handler);
  if (handlers.some((handler) => policiesOf(handler).length > 0))
    guard.rules.findPolicy = (await import('../policies/policies.js')).policiesIn(modules, placed);
  const { reportOnly } = settings;
  if (!reportOnly && !handlers.some((handler) => isReportOnly(ruleOf(handler)))) return;
  const { reporterOf } = await import('../guard/report-only.js');
  const reported = reporterOf(handlers, reportOnly, registrations !== undefined, causes);
  // A value: a getter would run in each check.
  Object.assign(guard, { reportOnly: reported });
  status.setReportOnly();
}

type SharedTierClass = new (
  settings: SharedTierSettings,
  readUser: ReadUser<UserRecord>,
  reports: SharedTierReports,
) => SharedTier<UserRecord>;

/** Without the folder, its line goes: `npm run parts`. */
const LOADED_BY_USE: { readonly fleet?: () => Promise<{ readonly Fleet: SharedTierClass }> } = {
  fleet: () => import('../fleet/fleet.js'),
};

async function sharedTierOf(
  { settings, causes, readUser }: ClientSetup,
  status: ServiceStatusTracker,
): Promise<SharedTier<UserRecord> | undefined> {
  const { cache } = settings;
  const fleet = cache?.store && (await LOADED_BY_USE.fleet?.());
  if (!cache?.store || !fleet) return undefined;
  const { readStoreSettings, STORED, storeReports } = await import('./store-wiring.js');
  const shared = readStoreSettings(cache.store, { ...settings, cache });
  const readStored: typeof readUser = (json) =>
    readUser(json, (field, requirement) =>
      causes.occurred('invalid user record', field, STORED, requirement, 'A call replaces it.'),
    );
  return new fleet.Fleet(shared, readStored, storeReports(causes, status));
}

async function verifierOf(
  setup: ClientSetup,
  client: SessionClient<UserRecord>,
  events: EventSource,
  status: ServiceStatusTracker,
): Promise<SessionVerifier<UserRecord>> {
  const { settings, causes, deadlines } = setup;
  const { cache, retry, identityFields } = settings;
  const knownSessions = Math.max(cache?.maxEntries ?? 0, MIN_KNOWN_SESSIONS);
  causes.onChange = (...changed) => status.setCauses(...changed);
  const lanes = new Lanes<UserRecord>(
    client.userDetails.bind(client),
    deadlines,
    { ...settings, ...retry },
    {
      known: new KnownSessions(knownSessions, identityFields),
      breakerChanged: breakerReporter(status, events),
    },
  );
  return new SessionVerifier(lanes, {
    cache: cache && new SessionCache(cache),
    shared: await sharedTierOf(setup, status),
    status,
    onRevoked: (tokenKey) => events.emitEnded(tokenKey),
    onEvicted: (tokenKey) => events.emitEvicted(tokenKey),
    onUsersRevoked: (username) => events.forgottenUsers.next(username),
    listenerFailed: () => causes.occurred('listener failed'),
  });
}

/** Reports nothing once the application has shut down: a pause may end later. */
function breakerReporter(status: ServiceStatusTracker, events: EventSource): BreakerChanged {
  return (lane, state) => {
    if (events.isComplete) return;
    status.setBreaker(lane, state);
    if (BREAKER.hasSubscribers) BREAKER.publish({ lane, state });
  };
}
