import { BadRequestException } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { httpExceptionOf, payloadOf } from './client-denial.js';

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
});

describe('the exception of a denial', () => {
  it('is one of HTTP for a denial with any other status', () => {
    const exception = httpExceptionOf({ statusCode: 400, code: 'CODE', message: 'message' });
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
