import { expect, it } from '@jest/globals';
import { BREAKER, CALLS, CHECKS, DENIALS } from './diagnostics.js';

it('the diagnostics channels have the documented names', () => {
  expect([CHECKS, BREAKER, DENIALS, CALLS.start].map(({ name }) => name)).toEqual([
    'nestjs-session-auth:check',
    'nestjs-session-auth:breaker',
    'nestjs-session-auth:denial',
    'tracing:nestjs-session-auth:call:start',
  ]);
});
