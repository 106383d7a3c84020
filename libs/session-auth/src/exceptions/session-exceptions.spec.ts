import {
  BadRequestException,
  ForbiddenException,
  HttpException,
  ServiceUnavailableException,
  UnauthorizedException,
  type Type,
} from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { InvalidConfigurationError, isSessionAuthError, SessionAuthError } from '../contract/errors.js';
import { unavailable } from '../contract/outcome.js';
import {
  AccessCheckFailedError,
  AccessDeniedError,
  CredentialsRejectedError,
  InvalidRequestError,
  SessionRejectedError,
  SessionServiceUnavailableError,
  TooManyAttemptsError,
} from './session-exceptions.js';

const CLASSES = [
  InvalidConfigurationError,
  InvalidRequestError,
  CredentialsRejectedError,
  SessionRejectedError,
  AccessDeniedError,
  AccessCheckFailedError,
  SessionServiceUnavailableError,
  TooManyAttemptsError,
];

describe('an error of this library', () => {
  it.each<[SessionAuthError, name: string, code: string, statusCode: number]>([
    [new InvalidConfigurationError('wrong'), 'InvalidConfigurationError', 'INVALID_CONFIGURATION', 500],
    [new InvalidRequestError(), 'InvalidRequestError', 'INVALID_REQUEST', 400],
    [new CredentialsRejectedError(), 'CredentialsRejectedError', 'CREDENTIALS_REJECTED', 401],
    [new TooManyAttemptsError(7), 'TooManyAttemptsError', 'TOO_MANY_ATTEMPTS', 429],
    [new SessionRejectedError(), 'SessionRejectedError', 'SESSION_REJECTED', 401],
    [new AccessDeniedError(), 'AccessDeniedError', 'ACCESS_DENIED', 403],
    [new AccessCheckFailedError(), 'AccessCheckFailedError', 'ACCESS_CHECK_FAILED', 503],
    [
      new SessionServiceUnavailableError(unavailable('timeout')),
      'SessionServiceUnavailableError',
      'SESSION_SERVICE_UNAVAILABLE',
      503,
    ],
  ])(
    '%p is a %s with code %s and status %i, and an instance of no other class',
    (error, name, code, statusCode) => {
      expect(error).toMatchObject({ name, code, statusCode });
      expect(CLASSES.filter((of) => error instanceof of).map((of) => of.name)).toEqual([name]);
      expect(error).toBeInstanceOf(SessionAuthError);
      expect(isSessionAuthError(error)).toBe(true);
      expect(error.message).not.toBe('');
      expect(error.cause).toBeUndefined();
    },
  );

  it.each([[null], [undefined], ['text'], [7], [{}], [() => undefined], [new Error('of another library')]])(
    'is not %p',
    (value) => {
      expect(isSessionAuthError(value)).toBe(false);
      expect(value).not.toBeInstanceOf(SessionAuthError);
    },
  );
});

describe('an exception of this library', () => {
  it.each<[HttpException & SessionAuthError, Type<HttpException>, error: string]>([
    [new InvalidRequestError('unreadable'), BadRequestException, 'Bad Request'],
    [new CredentialsRejectedError(), UnauthorizedException, 'Unauthorized'],
    [new SessionRejectedError(), UnauthorizedException, 'Unauthorized'],
    [new SessionRejectedError('SESSION_REQUIRED'), UnauthorizedException, 'Unauthorized'],
    [new AccessDeniedError(), ForbiddenException, 'Forbidden'],
    [new AccessDeniedError('CROSS_ORIGIN_DENIED'), ForbiddenException, 'Forbidden'],
  ])("%p is of Nest's class, with the body of Nest and the code", (exception, type, error) => {
    const { statusCode, message, code } = exception;
    expect(exception).toBeInstanceOf(type);
    expect(exception.getStatus()).toBe(statusCode);
    expect(exception.errorCode).toBe(code);
    expect(exception.getResponse()).toStrictEqual({ statusCode, message, error, code });
  });

  it.each<[HttpException & SessionAuthError, Type<HttpException>, error: string]>([
    [
      new SessionServiceUnavailableError(unavailable('api_key', 7), 'unavailable'),
      ServiceUnavailableException,
      'Service Unavailable',
    ],
    [new TooManyAttemptsError(7), HttpException, 'Too Many Requests'],
  ])('%p has the seconds to wait in its body, and not the reason of an outage', (exception, type, error) => {
    const { statusCode, message, code } = exception;
    expect(exception).toBeInstanceOf(type);
    expect(exception.getStatus()).toBe(statusCode);
    expect(exception.errorCode).toBe(code);
    expect(exception.getResponse()).toEqual({ statusCode, message, error, code, retryAfterSeconds: 7 });
  });

  it('has a body of its own, which a filter may change', () => {
    Object.assign(new AccessDeniedError().getResponse(), { code: 'CHANGED' });
    expect(new AccessDeniedError().getResponse()).toMatchObject({ code: 'ACCESS_DENIED' });
  });
});

describe('an error of another copy of this library', () => {
  it('is recognized as an error, but not as an instance of its classes', () => {
    const error = Object.assign(new Error('of the other copy'), {
      [Symbol.for('nestjs-session-auth.error')]: true,
    });
    expect(isSessionAuthError(error)).toBe(true);
    expect(error).toBeInstanceOf(SessionAuthError);
    expect(error).not.toBeInstanceOf(AccessDeniedError);
  });
});
