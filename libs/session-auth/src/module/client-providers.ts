import type { FactoryProvider, Provider } from '@nestjs/common';
import { agentAdapter } from '../client/agent-adapter.js';
import { Connections } from '../client/connections.js';
import type { Warnings } from '../client/notices.js';
import { Deadlines } from '../client/deadlines.js';
import { SessionClient } from '../client/session-client.js';
import { SessionHttpService } from '../client/session-http.service.js';
import { SessionWire } from '../client/session-wire.js';
import { UserDetailsVerdicts, type ReadUser } from '../client/user-details-verdict.js';
import type { UserRecord } from '../contract/user-record.js';
import { WarningLog } from './notice-log.js';
import { SETTINGS, USER_READER } from './settings-providers.js';
import type { SessionAuthSettings } from './settings/settings.js';

const deadlines: FactoryProvider<Deadlines> = {
  provide: Deadlines,
  useFactory: ({ protection }: SessionAuthSettings) => new Deadlines(protection.timeoutMs),
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

const client: FactoryProvider<SessionClient<UserRecord>> = {
  provide: SessionClient,
  useFactory: (
    set: SessionAuthSettings,
    readUser: ReadUser<UserRecord>,
    service: SessionHttpService,
    pool: Connections,
    log: WarningLog,
  ) => {
    const verdicts = new UserDetailsVerdicts(readUser, set, warningsTo(log, set, pool));
    return new SessionClient(new SessionWire(service, set), verdicts, readUser, set.http.maxTokenLength);
  },
  inject: [SETTINGS, USER_READER, SessionHttpService, Connections, WarningLog],
};

/** A connection may bring each caller the answer of the one before. */
function warningsTo(log: WarningLog, { tokenEcho }: SessionAuthSettings, pool: Connections): Warnings {
  const tokenMismatch = (): void => {
    log.tokenMismatch();
    if (tokenEcho === 'deny') pool.renew();
  };
  return { unexpectedReply: (status) => log.unexpectedReply(status), tokenMismatch, cachingForbidden: () => log.cachingForbidden() };
}

/** The way to the session service. */
export const CLIENT_PROVIDERS: Provider[] = [deadlines, connections, http, client];
