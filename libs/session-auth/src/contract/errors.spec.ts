import { describe, expect, it } from '@jest/globals';
import {
  AccessDeniedError,
  CredentialsRejectedError,
  errorOf,
  InvalidConfigurationError,
  InvalidRequestError,
  isSessionAuthError,
  SessionAuthError,
  SessionRejectedError,
  SessionServiceUnavailableError,
} from './errors.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable } from './outcome.js';

describe('an error of this library', () => {
  it.each<[SessionAuthError, name: string, code: string, statusCode: number]>([
    [new InvalidConfigurationError('wrong'), 'InvalidConfigurationError', 'INVALID_CONFIGURATION', 500],
    [new InvalidRequestError(), 'InvalidRequestError', 'INVALID_REQUEST', 400],
    [new CredentialsRejectedError(), 'CredentialsRejectedError', 'CREDENTIALS_REJECTED', 401],
    [new SessionRejectedError(), 'SessionRejectedError', 'SESSION_REJECTED', 401],
    [new AccessDeniedError(), 'AccessDeniedError', 'ACCESS_DENIED', 403],
    [new SessionServiceUnavailableError(unavailable('timeout')), 'SessionServiceUnavailableError', 'SESSION_SERVICE_UNAVAILABLE', 503],
  ])('%p is a %s with code %s and status %i, and an instance of no other class', (error, name, code, statusCode) => {
    expect(error).toMatchObject({ name, code, statusCode });
    const classes = [InvalidConfigurationError, InvalidRequestError, CredentialsRejectedError, SessionRejectedError, AccessDeniedError];
    expect([...classes, SessionServiceUnavailableError].filter((of) => error instanceof of).map((of) => of.name)).toEqual([name]);
    expect(error).toBeInstanceOf(SessionAuthError);
    expect(isSessionAuthError(error)).toBe(true);
    expect(error.message).not.toBe('');
    expect(error.cause).toBeUndefined();
  });

  it.each([[null], [undefined], ['text'], [7], [{}], [() => undefined], [new Error('of another library')]])('is not %p', (value) => {
    expect(isSessionAuthError(value)).toBe(false);
    expect(value).not.toBeInstanceOf(SessionAuthError);
  });
});

describe('an error of another copy of this library', () => {
  it('is recognized as an error, but not as an instance of its classes', () => {
    const error = Object.assign(new Error('of the other copy'), { [Symbol.for('nestjs-session-auth.error')]: true });
    expect(isSessionAuthError(error)).toBe(true);
    expect(error).toBeInstanceOf(SessionAuthError);
    expect(error).not.toBeInstanceOf(AccessDeniedError);
  });
});

describe('the error of a verdict', () => {
  it('matches the verdict', () => {
    expect(errorOf(UNAUTHENTICATED)).toBeInstanceOf(SessionRejectedError);
    expect(errorOf(FORBIDDEN)).toBeInstanceOf(AccessDeniedError);
    expect(errorOf(unavailable('busy', 3))).toMatchObject({ statusCode: 503, reason: 'busy', retryAfterSeconds: 3 });
  });
});
