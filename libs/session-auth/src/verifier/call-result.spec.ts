import { describe, expect, it } from '@jest/globals';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type UnavailableReason } from '../contract/outcome.js';
import { callResultOf } from './circuit-breaker.js';

describe('what a call shows about the service', () => {
  it.each<[UnavailableReason, string]>([
    ['unreachable', 'failure'],
    ['timeout', 'failure'],
    ['server_error', 'failure'],
    ['rate_limited', 'neither'],
    ['unexpected_status', 'neither'],
    ['malformed', 'neither'],
    ['busy', 'neither'],
    ['circuit_open', 'neither'],
    ['api_key', 'neither'],
    ['shutting_down', 'neither'],
  ])('that ends as %s is %s', (reason, evidence) => {
    expect(callResultOf(unavailable(reason), true)).toBe(evidence);
  });

  it('is success for every answer about the session', () => {
    for (const verdict of [{ kind: 'authenticated', user: 'ann' } as const, UNAUTHENTICATED, FORBIDDEN])
      expect(callResultOf(verdict, true)).toBe('success');
  });

  it('is neither success nor failure after a timeout without the full time, and on a connection that the service had closed', () => {
    expect(callResultOf(unavailable('timeout'), false)).toBe('neither');
    expect(callResultOf({ ...unavailable('unreachable'), staleConnection: true }, true)).toBe('neither');
  });
});
