export {
  AccessDeniedError,
  CredentialsRejectedError,
  InvalidConfigurationError,
  InvalidRequestError,
  isSessionAuthError,
  SessionAuthError,
  SessionRejectedError,
  SessionServiceUnavailableError,
} from '../contract/errors.js';
export { SessionAuthErrorFilter } from '../guard/session-auth-error.filter.js';
