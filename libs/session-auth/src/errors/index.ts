export { InvalidConfigurationError, isSessionAuthError, SessionAuthError } from '../contract/errors.js';
export {
  AccessCheckFailedError,
  AccessDeniedError,
  CredentialsRejectedError,
  InvalidRequestError,
  SessionRejectedError,
  SessionServiceUnavailableError,
  TooManyAttemptsError,
} from '../exceptions/session-exceptions.js';
export { SessionAuthErrorFilter } from '../guard/session-auth-error.filter.js';
