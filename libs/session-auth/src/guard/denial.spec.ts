import { HttpException, NotFoundException } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import {
  ACCESS_CHECK_FAILED,
  ACCESS_DENIED,
  bodyOf,
  SESSION_REJECTED,
  SESSION_REQUIRED,
} from '../contract/denials.js';
import { InvalidConfigurationError, type SessionAuthError } from '../contract/errors.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable } from '../contract/outcome.js';
import {
  AccessCheckFailedError,
  AccessDeniedError,
  CredentialsRejectedError,
  InvalidRequestError,
  SessionRejectedError,
  SessionServiceUnavailableError,
  TooManyAttemptsError,
} from '../exceptions/session-exceptions.js';
import {
  denialOf,
  denialOfVerdict,
  exceptionOf,
  type GuardDenial,
  ruleAnswerOf,
  sessionException,
  withoutStack,
} from './denial.js';

describe('an error that a handler does not catch', () => {
  it.each<[SessionAuthError, number]>([
    [new InvalidRequestError(), 400],
    [new CredentialsRejectedError(), 401],
    [new SessionRejectedError(), 401],
    [new AccessDeniedError(), 403],
    [new InvalidConfigurationError('wrong'), 500],
  ])('%p becomes a denial with %i', (error, statusCode) => {
    expect(denialOf(error)).toEqual({ statusCode, code: error.code, message: error.message });
  });

  it('has the seconds to wait during an outage', () => {
    expect(denialOf(new SessionServiceUnavailableError(unavailable('busy', 7)))).toMatchObject({
      statusCode: 503,
      retryAfterSeconds: 7,
    });
  });

  it('has the seconds to wait after too many attempts', () => {
    expect(denialOf(new TooManyAttemptsError(900))).toMatchObject({
      statusCode: 429,
      code: 'TOO_MANY_ATTEMPTS',
      retryAfterSeconds: 900,
    });
  });

  it('has no seconds to wait if another copy of this package has not set them', () => {
    const { code, statusCode, message } = new SessionServiceUnavailableError(unavailable('busy'));
    const error = { code, statusCode, message } as SessionAuthError;
    expect(denialOf(error)).toStrictEqual({ statusCode, code, message });
  });
});

describe('the exception of a denial', () => {
  it.each<[GuardDenial, new (...parameters: never[]) => HttpException]>([
    [SESSION_REQUIRED, SessionRejectedError],
    [SESSION_REJECTED, SessionRejectedError],
    [ACCESS_DENIED, AccessDeniedError],
    [ACCESS_CHECK_FAILED, AccessCheckFailedError],
    [denialOfVerdict(unavailable('busy', 7)), SessionServiceUnavailableError],
  ])('for %j is the error of the library, without a stack trace', (denial, type) => {
    const exception = exceptionOf(denial);
    expect(exception).toBeInstanceOf(type);
    expect(denialOf(exception as HttpException & SessionAuthError)).toEqual(
      expect.objectContaining({ statusCode: denial.statusCode, code: denial.code }),
    );
    expect(exception.message).toBe(denial.message);
    expect(exception.getResponse()).toEqual(bodyOf(denial));
    expect(exception.stack).not.toContain('\n    at ');
  });

  it('has the reason of an outage, which its body does not have', () => {
    const exception = exceptionOf(denialOfVerdict(unavailable('circuit_open', 7)));
    expect(exception).toMatchObject({ reason: 'circuit_open', retryAfterSeconds: 7 });
    expect(JSON.stringify(exception.getResponse())).not.toContain('circuit_open');
  });
});

describe('the answer of a rule', () => {
  it.each<[HttpException, object]>([
    [new NotFoundException('gone'), { statusCode: 404, code: 'NOT_FOUND', message: 'gone' }],
    [new HttpException({ code: 'HIDDEN', message: 'no' }, 404), { statusCode: 404, code: 'HIDDEN' }],
    [new HttpException('text', 299), { statusCode: 299, code: 'DENIED', message: 'text' }],
    [new SessionServiceUnavailableError(unavailable('busy', 7)), { statusCode: 503, retryAfterSeconds: 7 }],
  ])('is %p itself', (exception, answer) => {
    expect(ruleAnswerOf(exception)).toEqual({
      message: expect.any(String),
      code: expect.any(String),
      ...answer,
      exception,
    });
    expect(exceptionOf({ statusCode: 404, code: '', message: '', exception })).toBe(exception);
  });

  it.each([
    [new Error('no exception')],
    [new InvalidConfigurationError('an option')],
    [new HttpException('no status', Number.NaN)],
    [new HttpException('no status', 700)],
    [Object.defineProperty(new NotFoundException(), 'getStatus', { get: () => JSON.parse('{') as unknown })],
    [undefined],
  ])('is not %p', (error) => {
    expect(ruleAnswerOf(error)).toBeUndefined();
  });
});

describe('the error of a verdict', () => {
  it('matches the verdict', () => {
    expect(sessionException(denialOfVerdict(UNAUTHENTICATED))).toBeInstanceOf(SessionRejectedError);
    expect(sessionException(denialOfVerdict(FORBIDDEN))).toBeInstanceOf(AccessDeniedError);
    const outage = sessionException(denialOfVerdict(unavailable('busy', 3)));
    expect(outage).toMatchObject({ statusCode: 503, reason: 'busy', retryAfterSeconds: 3 });
  });
});

describe('an error built without a stack', () => {
  it('has no stack trace, and errors built after it have one', () => {
    const limit = Error.stackTraceLimit;
    expect(withoutStack(() => new Error('refused')).stack).toBe('Error: refused');
    expect(Error.stackTraceLimit).toBe(limit);
    expect(new Error('fault').stack).toContain('\n    at ');
  });

  it('does not affect the stack traces of other errors if building it throws', () => {
    const limit = Error.stackTraceLimit;
    const failure = new Error('fault');
    const build = (): Error => {
      throw failure;
    };
    expect(() => withoutStack(build)).toThrow(failure);
    expect(Error.stackTraceLimit).toBe(limit);
  });
});
