import { expect, it } from '@jest/globals';
import { BREAKER, CALLS, CHECKS, DENIALS } from './diagnostics.js';
import { InvalidConfigurationError, SessionAuthError } from './errors.js';

it('the diagnostics channels have the documented names', () => {
  expect([CHECKS, BREAKER, DENIALS, CALLS.start].map(({ name }) => name)).toEqual([
    'nestjs-session-auth:check',
    'nestjs-session-auth:breaker',
    'nestjs-session-auth:denial',
    'tracing:nestjs-session-auth:call:start',
  ]);
});

it('an invalid option is an error with a name, a code and a status', () => {
  const error = new InvalidConfigurationError('An option is invalid.');
  expect(error).toBeInstanceOf(SessionAuthError);
  expect(error).toMatchObject({
    name: 'InvalidConfigurationError',
    code: 'INVALID_CONFIGURATION',
    statusCode: 500,
    message: 'An option is invalid.',
  });
});
