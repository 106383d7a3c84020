import { BadRequestException, type HttpException } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { messageDenialOf, PackageExceptions, payloadOf } from './client-denial.js';

describe('the payload of a denial', () => {
  const denial = { statusCode: 503, code: 'CODE', message: 'Later.' };

  it('has the status "error", and the seconds to wait if there are any', () => {
    expect(payloadOf(denial)).toStrictEqual({ status: 'error', ...denial });
    expect(payloadOf({ ...denial, retryAfterSeconds: 0 })).toStrictEqual({
      status: 'error',
      ...denial,
      retryAfterSeconds: 0,
    });
  });

  it('has no status code if it is that of a message [P59]', () => {
    expect(messageDenialOf({ ...denial, retryAfterSeconds: 7 })).toStrictEqual({
      status: 'error',
      code: 'CODE',
      message: 'Later.',
      retryAfterSeconds: 7,
    });
  });
});

describe('the exception of a denial', () => {
  it('is one of HTTP without the package, for any status', async () => {
    const exceptions = new PackageExceptions(() => Promise.reject(new Error('not installed')));
    await exceptions.load();
    const denial = { statusCode: 400, code: 'CODE', message: 'message' };
    const exception = exceptions.exceptionOf(denial, {}) as HttpException;
    expect(exception).not.toBeInstanceOf(BadRequestException);
    expect(exception.getStatus()).toBe(400);
    expect(exception.getResponse()).toEqual({
      statusCode: 400,
      message: 'message',
      error: 'Bad Request',
      code: 'CODE',
    });
  });
});
