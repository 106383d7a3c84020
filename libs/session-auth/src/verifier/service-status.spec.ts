import { describe, expect, it } from '@jest/globals';
import { ServiceStatusTracker, type ServiceStatus } from './service-status.js';

function watched() {
  const told: ServiceStatus[] = [];
  return { told, watch: new ServiceStatusTracker((status) => told.push(status)) };
}

describe('the state of the session service', () => {
  it('follows the breaker of known sessions, and is published when it changes', () => {
    const { told, watch } = watched();
    for (const state of ['closed', 'open', 'halfOpen', 'open', 'halfOpen', 'closed', 'closed'] as const) watch.setBreaker('known', state);
    expect(told.map(({ state }) => state)).toEqual(['down', 'degraded', 'down', 'degraded', 'up']);
  });

  it('is degraded, not down, while every token is refused', () => {
    const { told, watch } = watched();
    watch.setMisconfigurationSuspected(true);
    watch.setMisconfigurationSuspected(true);
    watch.setBreaker('known', 'halfOpen');
    watch.setBreaker('known', 'closed');
    watch.setMisconfigurationSuspected(false);
    expect(told.map(({ state }) => state)).toEqual(['degraded', 'degraded', 'degraded', 'up']);
    expect(told[0]).toEqual({
      state: 'degraded',
      breakers: { known: 'closed', strangers: 'closed' },
      misconfigurationSuspected: true,
      revocationBus: 'off',
    });
  });

  it('is never down for failures of strangers', () => {
    const { told, watch } = watched();
    watch.setMisconfigurationSuspected(true);
    for (const state of ['open', 'halfOpen', 'closed'] as const) watch.setBreaker('strangers', state);
    expect(told.map(({ state }) => state)).toEqual(Array(4).fill('degraded'));
    watch.setBreaker('strangers', 'open');
    watch.setBreaker('known', 'open');
    expect(told.at(-1)).toEqual({
      state: 'down',
      breakers: { known: 'open', strangers: 'open' },
      misconfigurationSuspected: true,
      revocationBus: 'off',
    });
  });
});
