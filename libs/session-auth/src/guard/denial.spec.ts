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
const invalidTokenChallenge = ['www-authenticate', 'X-Auth-Token realm="session", error="invalid_token"'];

describe('a denial of the guard', () => {
  it.each<[string, HttpDenial, object]>([
    ['SESSION_REQUIRED', SESSION_REQUIRED, { statusCode: 401, headers: [challenge] }],
    ['SESSION_REJECTED', SESSION_REJECTED, { statusCode: 401, headers: [invalidTokenChallenge] }],
    ['ACCESS_DENIED', ACCESS_DENIED, { statusCode: 403, headers: [] }],
    ['SESSION_SERVICE_UNAVAILABLE', unavailableDenial(unavailable('busy', 7)), { statusCode: 503, headers: [['retry-after', '7']] }],
  ])('%s has a status, a message and headers', (code, denial, expected) => {
    expect(denial).toMatchObject({ code, ...expected });
    expect(denial.message).not.toBe('');
  });
});

describe('an error that a handler does not catch', () => {
  it.each<[SessionAuthError, number, unknown[]]>([
    [new InvalidRequestError(), 400, []],
    [new CredentialsRejectedError(), 401, [challenge]],
    [new SessionRejectedError(), 401, [invalidTokenChallenge]],
    [new AccessDeniedError(), 403, []],
    [new SessionServiceUnavailableError(unavailable('busy', 7)), 503, [['retry-after', '7']]],
    [new InvalidConfigurationError('wrong'), 500, []],
  ])('%p becomes a denial with %i and the headers %j', (error, statusCode, headers) => {
    expect(denialOf(error)).toMatchObject({ statusCode, code: error.code, message: error.message, headers });
  });

  it('has no Retry-After if another copy of this package has not set retryAfterSeconds', () => {
    const { code, statusCode, message } = new SessionServiceUnavailableError(unavailable('busy'));
    const error = { code, statusCode, message } as SessionAuthError;
    expect(denialOf(error)).toEqual({ statusCode, code, message, headers: [] });
  });

  it('does not become 503 because it has retryAfterSeconds', () => {
    const error = Object.assign(new AccessDeniedError(), { retryAfterSeconds: 7 });
    expect(denialOf(error)).toMatchObject({ statusCode: 403, headers: [] });
  });
});

describe('the exception of a denial', () => {
  it.each([
    [400, BadRequestException, 'Bad Request'],
    [401, UnauthorizedException, 'Unauthorized'],
    [403, ForbiddenException, 'Forbidden'],
    [503, ServiceUnavailableException, 'Service Unavailable'],
    [500, HttpException, 'Internal Server Error'],
  ])("for %i is of Nest's class, with the body of Nest and the code", (statusCode, type, error) => {
    const exception = exceptionOf({ statusCode, code: 'CODE', message: 'message', headers: [] });
    expect(exception.constructor).toBe(type);
    expect(exception.getStatus()).toBe(statusCode);
    expect(exception.getResponse()).toEqual({ statusCode, message: 'message', error, code: 'CODE' });
  });
});
