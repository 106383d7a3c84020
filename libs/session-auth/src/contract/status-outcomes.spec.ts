import { expect, it } from '@jest/globals';
import { isRefusal, unavailableReasonOf } from './status-outcomes.js';

it('a refusal has one of the four statuses that the interface lists', () => {
  const statuses = Array.from({ length: 500 }, (_, index) => 100 + index);
  expect(statuses.filter(isRefusal)).toEqual([400, 401, 403, 404]);
});

it.each([
  [200, 'unexpected_status'],
  [408, 'server_error'],
  [429, 'rate_limited'],
  [499, 'unexpected_status'],
  [500, 'server_error'],
])('a response with the status %i that is no usable answer has the reason %s', (status, reason) => {
  expect(unavailableReasonOf(status)).toBe(reason);
});
