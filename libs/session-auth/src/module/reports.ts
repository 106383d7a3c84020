import type { SignInFailureCode } from '../contract/diagnostics.js';
import { isSessionAuthError } from '../contract/errors.js';
import { SessionServiceUnavailableError, TooManyAttemptsError } from '../exceptions/session-exceptions.js';
import type { GuardParts } from '../guard/guard-parts.js';
import {
  type Misconfiguration,
  MisconfigurationDetector,
  type ServiceStatusTracker,
} from '../verifier/service-status.js';
import type { CheckReport } from '../verifier/session-verifier.js';
import type { Causes } from './events/cause-log.js';
import type { CallReport } from './service/session-auth.service.js';

const SIGN_IN_OUTCOMES = {
  CREDENTIALS_REJECTED: 'unauthenticated',
  INVALID_REQUEST: 'unauthenticated',
  TOO_MANY_ATTEMPTS: 'unauthenticated',
  ACCESS_DENIED: 'forbidden',
  SESSION_SERVICE_UNAVAILABLE: 'unavailable',
} as const;

/** Reports sign-ins and sign-outs as causes, and failed sign-ins as denials. */
export function callReport(causes: Causes, { decisions }: GuardParts): CallReport {
  return (operation, error) => {
    if (operation === 'sign_in' && isSessionAuthError(error)) {
      const code = error.code as SignInFailureCode;
      decisions.signInFailed(code, SIGN_IN_OUTCOMES[code]);
    }
    if (error instanceof SessionServiceUnavailableError) causes.callFailed(operation, error.reason);
    else if (error instanceof TooManyAttemptsError) causes.callFailed(operation, 'rate_limited');
    else if (error === undefined || isSessionAuthError(error))
      causes.callAnswered(operation, error === undefined);
  };
}

/** Who is refused, and what else may be the reason. */
const REFUSED: Readonly<Record<Misconfiguration, [string, string]>> = {
  'since startup': ['every token has been refused since startup', ''],
  'after acceptance': [
    'the session service refuses several users, and has accepted sessions before',
    ' now, or it has ended all sessions',
  ],
};

/** Reports the verdicts of the session service: as causes, and as its state. */
export function checkReport(causes: Causes, watch: ServiceStatusTracker): CheckReport {
  const detector = new MisconfigurationDetector((sign) =>
    causes.occurred('key refused', '', ...REFUSED[sign]),
  );
  return (verdict, tokenKey, caller) => {
    const { kind } = verdict;
    detector.record(tokenKey, verdict, caller === tokenKey ? undefined : caller);
    if (kind === 'unavailable') {
      causes.callFailed('user_details', verdict.reason, caller);
      if (caller !== undefined) watch.checkFailed(verdict.reason, caller);
    } else {
      watch.checkAnswered();
      causes.callAnswered('user_details', kind === 'authenticated');
      if (kind === 'authenticated') causes.recovered('key refused');
    }
  };
}
