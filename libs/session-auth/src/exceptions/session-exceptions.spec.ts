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
const outage = new SessionServiceUnavailableError(unavailable('api_key', 7));

describe('an error of this library', () => {
  it.each<[SessionAuthError, name: string, code: string, statusCode: number]>([
    [new InvalidConfigurationError('wrong'), 'InvalidConfigurationError', 'INVALID_CONFIGURATION', 500],
    [new InvalidRequestError('wrong'), 'InvalidRequestError', 'INVALID_REQUEST', 400],
    [new CredentialsRejectedError(), 'CredentialsRejectedError', 'CREDENTIALS_REJECTED', 401],
    [new TooManyAttemptsError(7), 'TooManyAttemptsError', 'TOO_MANY_ATTEMPTS', 429],
    [new SessionRejectedError(), 'SessionRejectedError', 'SESSION_REJECTED', 401],
    [new SessionRejectedError('SESSION_REQUIRED'), 'SessionRejectedError', 'SESSION_REQUIRED', 401],
    [new AccessDeniedError(), 'AccessDeniedError', 'ACCESS_DENIED', 403],
    [new AccessDeniedError('CROSS_ORIGIN_DENIED'), 'AccessDeniedError', 'CROSS_ORIGIN_DENIED', 403],
    [new AccessCheckFailedError(), 'AccessCheckFailedError', 'ACCESS_CHECK_FAILED', 503],
    [outage, 'SessionServiceUnavailableError', 'SESSION_SERVICE_UNAVAILABLE', 503],
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

  it.each([[null], ['text'], [{}], [new Error('of another library')]])('is not %p', (value) => {
    expect(isSessionAuthError(value)).toBe(false);
    expect(value).not.toBeInstanceOf(SessionAuthError);
  });

  it('of another copy is recognized as an error, but not as an instance of its classes', () => {
    const error = Object.assign(new Error('of the other copy'), {
      [Symbol.for('nestjs-session-auth.error')]: true,
    });
    expect(error).toBeInstanceOf(SessionAuthError);
    expect(error).not.toBeInstanceOf(AccessDeniedError);
  });
});

describe('an exception of this library', () => {
  it.each<[HttpException & SessionAuthError, Type<HttpException>, error: string, wait: number | undefined]>([
    [new InvalidRequestError('unreadable'), BadRequestException, 'Bad Request', undefined],
    [new CredentialsRejectedError(), UnauthorizedException, 'Unauthorized', undefined],
    [new SessionRejectedError('SESSION_REQUIRED'), UnauthorizedException, 'Unauthorized', undefined],
    [new AccessDeniedError('CROSS_ORIGIN_DENIED'), ForbiddenException, 'Forbidden', undefined],
    [outage, ServiceUnavailableException, 'Service Unavailable', 7],
    [new TooManyAttemptsError(7), HttpException, 'Too Many Requests', 7],
  ])(
    "%p is of Nest's class, with the body of Nest, the code and the seconds to wait, and not the reason of an outage",
    (exception, type, error, retryAfterSeconds) => {
      const { statusCode, message, code } = exception;
      expect(exception).toBeInstanceOf(type);
      expect(exception.getStatus()).toBe(statusCode);
      expect(exception.errorCode).toBe(code);
      const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
      expect(exception.getResponse()).toStrictEqual({ statusCode, message, error, code, ...wait });
    },
  );

  it('has a body of its own, which a filter may change', () => {
    Object.assign(new AccessDeniedError().getResponse(), { code: 'CHANGED' });
    expect(new AccessDeniedError().getResponse()).toMatchObject({ code: 'ACCESS_DENIED' });
  });
});
