import { BadRequestException, ForbiddenException, HttpException, ServiceUnavailableException, UnauthorizedException } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import {
  AccessDeniedError,
  CredentialsRejectedError,
  InvalidConfigurationError,
  InvalidRequestError,
  SessionRejectedError,
  SessionServiceUnavailableError,
  type SessionAuthError,
} from '../contract/errors.js';
import { unavailable } from '../contract/outcome.js';
import { denialOf, exceptionOf, ACCESS_DENIED, SESSION_REJECTED, SESSION_REQUIRED, unavailableDenial, type HttpDenial } from './denial.js';

const challenge = ['www-authenticate', 'X-Auth-Token realm="session"'];
const refusedChallenge = ['www-authenticate', 'X-Auth-Token realm="session", error="invalid_token"'];

describe('a refusal of the guard', () => {
  it.each<[HttpDenial, object]>([
    [SESSION_REQUIRED, { statusCode: 401, code: 'SESSION_REQUIRED', headers: [challenge] }],
    [SESSION_REJECTED, { statusCode: 401, code: 'SESSION_REJECTED', headers: [refusedChallenge] }],
    [ACCESS_DENIED, { statusCode: 403, code: 'ACCESS_DENIED', headers: [] }],
    [unavailableDenial(unavailable('busy', 7)), { statusCode: 503, code: 'SESSION_SERVICE_UNAVAILABLE', headers: [['retry-after', '7']] }],
  ])('$code says what it is, and what to do', (denial, said) => {
    expect(denial).toMatchObject(said);
    expect(denial.message).not.toBe('');
  });
});

describe('an error that a controller let through', () => {
  it.each<[SessionAuthError, number, unknown[]]>([
    [new InvalidRequestError(), 400, []],
    [new CredentialsRejectedError(), 401, [challenge]],
    [new SessionRejectedError(), 401, [refusedChallenge]],
    [new AccessDeniedError(), 403, []],
    [new SessionServiceUnavailableError(unavailable('busy', 7)), 503, [['retry-after', '7']]],
    [new InvalidConfigurationError('wrong'), 500, []],
  ])('%p is answered with %i and the headers %j', (error, statusCode, headers) => {
    expect(denialOf(error)).toMatchObject({ statusCode, code: error.code, message: error.message, headers });
  });

  it('has no Retry-After when another copy of this package did not say for how long', () => {
    const { code, statusCode, message } = new SessionServiceUnavailableError(unavailable('busy'));
    const error = { code, statusCode, message } as SessionAuthError;
    expect(denialOf(error)).toEqual({ statusCode, code, message, headers: [] });
  });

  it('is no outage for having a retryAfterSeconds', () => {
    const error = Object.assign(new AccessDeniedError(), { retryAfterSeconds: 7 });
    expect(denialOf(error)).toMatchObject({ statusCode: 403, headers: [] });
  });
});

describe('the exception of a refusal', () => {
  it.each([
    [400, BadRequestException, 'Bad Request'],
    [401, UnauthorizedException, 'Unauthorized'],
    [403, ForbiddenException, 'Forbidden'],
    [503, ServiceUnavailableException, 'Service Unavailable'],
    [500, HttpException, 'Internal Server Error'],
  ])("for %i is Nest's own, with its usual body and the code", (statusCode, type, error) => {
    const exception = exceptionOf({ statusCode, code: 'CODE', message: 'message', headers: [] });
    expect(exception.constructor).toBe(type);
    expect(exception.getStatus()).toBe(statusCode);
    expect(exception.getResponse()).toEqual({ statusCode, message: 'message', error, code: 'CODE' });
  });
});
