import type { FactoryProvider, Provider } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { agentAdapter } from '../client/agent-adapter.js';
import { Connections } from '../client/connections.js';
import { Deadlines } from '../client/deadlines.js';
import { SessionClient } from '../client/session-client.js';
import { SessionHttpService } from '../client/session-http.service.js';
import { SessionWire } from '../client/session-wire.js';
import { UserDetailsVerdicts, type ReadUser } from '../client/user-details-verdict.js';
import type { UserRecord } from '../contract/user-record.js';
import { AccessRules } from '../guard/access-rules.js';
import { GUARD_PARTS, type GuardParts } from '../guard/guard-parts.js';
import { PresentedSessions } from '../guard/presented-session.js';
import { SessionAuthErrorFilter } from '../guard/session-auth-error.filter.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { EndedSessions } from '../verifier/ended-sessions.js';
import { ProtectedCheck } from '../verifier/protected-check.js';
import { SessionMemory } from '../verifier/session-memory.js';
import { SharedTier } from '../verifier/shared/shared-tier.js';
import { Suspicion } from '../verifier/suspicion.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import { isPlainTextBeyondLoopback } from './base-url.js';
import { MODULE_OPTIONS_TOKEN } from './module-definition.js';
import { NoticeLog } from './notice-log.js';
import type { SessionAuthOptions } from './options.js';
import { SessionAuthEvents } from './session-auth-events.js';
import { SessionAuthService } from './session-auth.service.js';
import { readSettings, type SessionAuthSettings } from './settings.js';
import { readUserWith } from './user-reader.js';

/** Injection token of the checked options. */
const SETTINGS = Symbol('session-auth settings');

/** Injection token of the check of a record. */
const USER_READER = Symbol('session-auth user reader');

const settings: FactoryProvider<SessionAuthSettings> = {
  provide: SETTINGS,
  useFactory: (options: SessionAuthOptions) => readSettings(options),
  inject: [MODULE_OPTIONS_TOKEN],
};

const notices: FactoryProvider<NoticeLog> = {
  provide: NoticeLog,
  useFactory: ({ baseUrl }: SessionAuthSettings) => {
    const log = new NoticeLog();
    if (process.env.NODE_ENV === 'production' && isPlainTextBeyondLoopback(baseUrl)) log.plainText();
    return log;
  },
  inject: [SETTINGS],
};

const connections: FactoryProvider<Connections> = {
  provide: Connections,
  useFactory: ({ baseUrl, protection, http: { proxy, maxResponseBytes } }: SessionAuthSettings) =>
    new Connections({
      origin: new URL(baseUrl).origin,
      maxConnections: protection.maxInFlight,
      connectTimeoutMs: protection.timeoutMs,
      maxResponseBytes,
      proxy,
    }),
  inject: [SETTINGS],
};

const http: FactoryProvider<SessionHttpService> = {
  provide: SessionHttpService,
  useFactory: ({ http: { maxResponseBytes, httpAgent, httpsAgent } }: SessionAuthSettings, pool: Connections) =>
    new SessionHttpService(pool, { adapter: agentAdapter(maxResponseBytes), httpAgent, httpsAgent }),
  inject: [SETTINGS, Connections],
};

const userReader: FactoryProvider<ReadUser<UserRecord>> = { provide: USER_READER, useFactory: readUserWith, inject: [SETTINGS] };

const client: FactoryProvider<SessionClient<UserRecord>> = {
  provide: SessionClient,
  useFactory: (set: SessionAuthSettings, readUser: ReadUser<UserRecord>, service: SessionHttpService, log: NoticeLog) => {
    const verdicts = new UserDetailsVerdicts(readUser, set, log);
    return new SessionClient(new SessionWire(service, set), verdicts, readUser, set.http.maxTokenLength);
  },
  inject: [SETTINGS, USER_READER, SessionHttpService, NoticeLog],
};

const verifier: FactoryProvider<SessionVerifier<UserRecord>> = {
  provide: SessionVerifier,
  useFactory: (
    sessions: SessionClient<UserRecord>,
    deadlines: Deadlines,
    set: SessionAuthSettings,
    readUser: ReadUser<UserRecord>,
    log: NoticeLog,
    events: SessionAuthEvents,
  ) =>
    new SessionVerifier(new ProtectedCheck((session, deadline) => sessions.userDetails(session, deadline), deadlines, set.protection), {
      memory: set.memory && new SessionMemory(set.memory),
      shared: set.shared && new SharedTier(set.shared, readUser, () => log.storeUnavailable()),
      suspicion: new Suspicion(() => log.everyoneRefused()),
      ended: new EndedSessions((token) => events.tellEnded(token)),
    }),
  inject: [SessionClient, Deadlines, SETTINGS, USER_READER, NoticeLog, SessionAuthEvents],
};

const service: FactoryProvider<SessionAuthService> = {
  provide: SessionAuthService,
  useFactory: (sessions: SessionClient<UserRecord>, checks: SessionVerifier<UserRecord>, deadlines: Deadlines, set: SessionAuthSettings) =>
    new SessionAuthService(sessions, checks, deadlines, { ...set, maxTokenLength: set.http.maxTokenLength }),
  inject: [SessionClient, SessionVerifier, Deadlines, SETTINGS],
};

const guardParts: FactoryProvider<GuardParts> = {
  provide: GUARD_PARTS,
  useFactory: (checks: SessionVerifier<UserRecord>, { sources, forwardAuthIv, http: { maxTokenLength } }: SessionAuthSettings) => ({
    rules: new AccessRules(),
    presented: new PresentedSessions({ sources, forwardAuthIv, maxTokenLength }),
    verifier: checks,
  }),
  inject: [SessionVerifier, SETTINGS],
};

/** Everything that the module builds, in the order of the layers: options, client, verifier, guard. */
export const PROVIDERS: Provider[] = [
  settings,
  notices,
  Deadlines,
  connections,
  http,
  userReader,
  client,
  SessionAuthEvents,
  verifier,
  service,
  guardParts,
  SessionAuthGuard,
  { provide: APP_FILTER, useClass: SessionAuthErrorFilter },
];

/** What an application may inject; the guard's parts are there because Nest builds the guard in the module that names it. */
export const EXPORTS = [SessionAuthService, SessionAuthEvents, SessionAuthGuard, SessionHttpService, GUARD_PARTS];
