import type { SignInFailureCode } from '../contract/diagnostics.js';
import { isSessionAuthError } from '../contract/errors.js';
import { SessionServiceUnavailableError, TooManyAttemptsError } from '../exceptions/session-exceptions.js';
import type { GuardParts } from '../guard/guard-parts.js';
import type { CallReports, ServiceStatusTracker } from '../verifier/service-status.js';
import type { CallReport } from './service/session-auth.service.js';

const SIGN_IN_OUTCOMES = {
  CREDENTIALS_REJECTED: 'unauthenticated',
  INVALID_REQUEST: 'unauthenticated',
  TOO_MANY_ATTEMPTS: 'unauthenticated',
  ACCESS_DENIED: 'forbidden',
  SESSION_SERVICE_UNAVAILABLE: 'unavailable',
} as const;

/** Reports sign-ins and sign-outs as causes, and failed sign-ins as denials. */
export function callReport(
  causes: CallReports,
  status: ServiceStatusTracker,
  { decisions }: GuardParts,
): CallReport {
  return (operation, error) => {
    if (operation === 'sign_in' && isSessionAuthError(error)) {
      const code = error.code as SignInFailureCode;
      decisions.signInFailed(code, SIGN_IN_OUTCOMES[code]);
    }
    if (error instanceof SessionServiceUnavailableError) causes.callFailed(operation, error.reason);
    else if (error instanceof TooManyAttemptsError) causes.callFailed(operation, 'rate_limited');
    else if (error === undefined || isSessionAuthError(error)) {
      causes.callAnswered(operation, error === undefined);
      if (operation === 'sign_in') status.signInAnswered(error === undefined);
    }
  };
}
