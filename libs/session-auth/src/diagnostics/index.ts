export {
  BREAKER_CHANNEL,
  CALL_CHANNEL,
  CAUSE_CHANNEL,
  CHECK_CHANNEL,
  DENIAL_CHANNEL,
} from '../contract/diagnostics.js';
export type {
  BreakerMessage,
  CallMessage,
  CauseMessage,
  CheckMessage,
  CheckSource,
  DenialMessage,
  LaneName,
  SignInFailureCode,
} from '../contract/diagnostics.js';
export { AcknowledgeAudit, ReportOnly } from '../guard/access.decorators.js';
export { accessOf, currentUserOf } from './current-user-of.js';
export { redactedHeaders } from './redacted-headers.js';
