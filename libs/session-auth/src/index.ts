import 'reflect-metadata';

export { SessionAuthModule, type ServiceOf, type SessionAuthDynamicModule } from './module/session-auth.module.js';
export type {
  SessionAuthAsyncOptions,
  SessionAuthCacheOptions,
  SessionAuthExtras,
  SessionAuthOptions,
  SessionAuthOptionsFactory,
} from './module/options.js';
export type { SessionAuthHttpOptions } from './module/http-options.js';
export { SessionAuthEvents } from './module/session-auth-events.js';
export { SessionSockets, type SocketCounts, type SocketUpgrade } from './module/sockets/session-sockets.js';
export type { SessionSocketOptions } from './module/sockets/socket-options.js';
export type { SocketClient } from './guard/sockets/socket-client.js';
export { SessionAuthService } from './module/service/session-auth.service.js';
export type { CallOptions, VerifyOptions } from './module/service/service-input.js';
export type { SignInResult } from './client/session-client.js';
export type { Credentials } from './client/session-requests.js';
export type { ApiKey } from './client/session-requests.js';
export type { RefusalStatus, StatusMap, StatusMeaning } from './contract/outcome.js';
export type { TokenEcho } from './client/user-details-verdict.js';
export { SessionHttpService } from './client/http/session-http.service.js';

export { SessionAuthGuard } from './guard/session-auth.guard.js';
export { SessionAuthErrorFilter } from './guard/session-auth-error.filter.js';
export { CclScope, RequireFlags, type CclScopeParameters, type UserFlag } from './guard/access/access.decorators.js';
export type { Audit } from './module/audit/boot-audit.js';
export {
  Authorize,
  FreshSession,
  OptionalAuth,
  Public,
  Roles,
  SubRoles,
  type AuthorizationRule,
} from './guard/access/access.decorators.js';
export { AuthToken, CurrentUser, type CurrentUserRecord } from './guard/access/current-user.decorator.js';
export { fromBearer, fromCookie, fromHeader, type FoundToken, type TokenSource } from './guard/session/token-source.js';
export { fromPayload } from './guard/session/token-source.js';

export { CclInfo, UserRecord, type UserRecordClass } from './contract/record/user-record.js';
export * from './contract/session-auth-types.js';
export { SessionStore, type StoreEntry, type StoreEntryKind, type StoreLease, type StoreSubscriber } from './contract/session-store.js';
export type { BreakerSettings, BreakerState } from './verifier/lanes/circuit.js';
export type { RevocationBusState, ServiceState, ServiceStatus } from './verifier/service-status.js';
export type { RetrySettings } from './verifier/lanes/retry.js';
export type { BreakerMessage, CallMessage, CheckMessage, CheckSource, DenialMessage, LaneName } from './contract/diagnostics.js';
export type { UnavailableReason } from './contract/outcome.js';
export {
  AccessDeniedError,
  CredentialsRejectedError,
  InvalidConfigurationError,
  InvalidRequestError,
  isSessionAuthError,
  SessionAuthError,
  SessionRejectedError,
  SessionServiceUnavailableError,
} from './contract/errors.js';
