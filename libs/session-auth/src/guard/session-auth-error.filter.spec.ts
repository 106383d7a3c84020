import type { ArgumentsHost } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { AccessDeniedError } from '../exceptions/session-exceptions.js';
import { SessionAuthErrorFilter } from './session-auth-error.filter.js';

describe('an error that a handler does not catch', () => {
  it.each(['pigeon', '__proto__'])('is thrown again in a context of the unknown kind %j', (type) => {
    const error = new AccessDeniedError();
    expect(() => new SessionAuthErrorFilter().catch(error, { getType: () => type } as unknown as ArgumentsHost)).toThrow(error);
  });
});
