import type { HttpException } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { messageDenialOf, PackageExceptions, payloadOf } from './client-denial.js';

const DENIAL = { statusCode: 503, code: 'CODE', message: 'Later.' };

describe('the payload of a denial', () => {
  it('has the status "error", and the seconds to wait if there are any', () => {
    const payload = { status: 'error', ...DENIAL };
    expect(payloadOf(DENIAL)).toStrictEqual(payload);
    expect(payloadOf({ ...DENIAL, retryAfterSeconds: 0 })).toStrictEqual({
      ...payload,
      retryAfterSeconds: 0,
    });
  });

  it('has no status code if it is that of a message [P59]', () => {
    expect(messageDenialOf(DENIAL)).toStrictEqual({ status: 'error', code: 'CODE', message: 'Later.' });
  });

  it('is that of HTTP without the package of its exceptions', async () => {
    const exceptions = new PackageExceptions(() => Promise.reject(new Error('not installed')));
    await exceptions.load();
    const exception = exceptions.exceptionOf(DENIAL, {}) as HttpException;
    expect([exception.getStatus(), exception.getResponse()]).toEqual([
      503,
      { ...DENIAL, error: 'Service Unavailable' },
    ]);
  });
});
