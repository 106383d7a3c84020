import { HttpException, NotFoundException } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { ACCESS_CHECK_FAILED, bodyOf, SESSION_REQUIRED } from '../contract/denials.js';
import { InvalidConfigurationError, type SessionAuthError } from '../contract/errors.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable } from '../contract/outcome.js';
import {
  AccessCheckFailedError,
  AccessDeniedError,
  CredentialsRejectedError,
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
  withoutStack,
} from './denial.js';

describe('an error that a handler does not catch', () => {
  it.each<[SessionAuthError, number]>([
    [new CredentialsRejectedError(), 401],
    [new InvalidConfigurationError('wrong'), 500],
  ])('%p becomes a denial with %i', (error, statusCode) => {
    expect(denialOf(error)).toEqual({ statusCode, code: error.code, message: error.message });
  });

  it('has the seconds to wait', () => {
    const denials = [
      new SessionServiceUnavailableError(unavailable('busy', 7)),
      new TooManyAttemptsError(900),
    ];
    expect(denials.map((error) => denialOf(error).retryAfterSeconds)).toEqual([7, 900]);
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
    [ACCESS_CHECK_FAILED, AccessCheckFailedError],
    [denialOfVerdict(UNAUTHENTICATED), SessionRejectedError],
    [denialOfVerdict(FORBIDDEN), AccessDeniedError],
    [denialOfVerdict(unavailable('busy', 7)), SessionServiceUnavailableError],
  ])('for %j is the error of the library, without a stack trace', (denial, type) => {
    const exception = exceptionOf(denial);
    expect(exception).toBeInstanceOf(type);
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

describe('an error built without a stack', () => {
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
