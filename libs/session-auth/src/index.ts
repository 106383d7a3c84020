import './contract/supported-node.js';
import './module/supported-nest.js';
import 'reflect-metadata';

// First, because the packages that the other files import fail on an old Node.js.

export { SessionAuthModule } from './module/session-auth.module.js';
export type {
  Audit,
  SessionAuthAsyncOptions,
  SessionAuthCacheOptions,
  SessionAuthExtras,
  SessionAuthHttpOptions,
  SessionAuthOptions,
  SessionAuthOptionsFactory,
} from './module/options/options.js';
export type { OpenedPart, SessionAuthPlugin } from './module/options/plugins.js';
export type { ApiKey, Credentials, SignInResult } from './client/session-client.js';
export type { TokenEcho } from './client/user-details-verdict.js';
export type { UnavailableReason } from './contract/outcome.js';
export type { RefusalStatus, StatusMap, StatusMeaning } from './contract/status-outcomes.js';
export type { BreakerSettings, BreakerState } from './verifier/circuit-breaker.js';
export type { RetrySettings } from './verifier/lanes.js';

export { SessionAuthService } from './module/service/session-auth.service.js';
export type { CallOptions, VerifyOptions } from './module/service/service-input.js';
export { SessionAuthEvents } from './module/events/session-auth-events.js';
export type { ActiveCause, CauseName } from './contract/causes.js';
export type {
  RevocationBusState,
  RevocationBusStatus,
  ServiceState,
  ServiceStatus,
} from './verifier/service-status.js';
export { SessionHttpService } from './client/session-http.service.js';

export type { SessionAuthDecision } from './guard/decision-reports.js';
export { SessionAuthGuard } from './guard/session-auth.guard.js';
export {
  Authorize,
  CclScope,
  FreshSession,
  KeepOpen,
  OptionalAuth,
  Public,
  RequireFlags,
  Roles,
  SubRoles,
  type AuthorizationPolicy,
  type AuthorizationRule,
  type CclScopeParameters,
  type PolicyClass,
  type UserFlag,
} from './guard/access.decorators.js';
export {
  AuthIv,
  AuthToken,
  CurrentSession,
  CurrentUser,
  SessionRecord,
  type CurrentRequestUser,
  type CurrentUserRecord,
  type LoadUser,
  type ParameterDecoratorFor,
  type ParameterMustAccept,
  type PresentedSession,
  type UserLoader,
} from './guard/current-user.decorator.js';
export type { CrossOriginOptions } from './guard/cross-origin.js';
export type { WhileOpen } from './guard/transport.js';
export {
  fromBearer,
  fromCookie,
  fromHeader,
  fromPayload,
  type FoundToken,
  type TokenSource,
} from './guard/token-source.js';

export {
  CclInfo,
  UserRecord,
  type UserRecordClass,
  type UserRecordSchema,
} from './contract/record/user-record.js';
export * from './contract/session-auth-types.js';
