import { describe, expect, it } from '@jest/globals';
import { ServiceWatch, type ServiceStatus } from './service-state.js';

function watched() {
  const told: ServiceStatus[] = [];
  return { told, watch: new ServiceWatch((status) => told.push(status)) };
}

describe('the state of the session service', () => {
  it('follows the circuit, and is told when it changes', () => {
    const { told, watch } = watched();
    for (const state of ['closed', 'open', 'halfOpen', 'open', 'halfOpen', 'closed', 'closed'] as const) watch.breakerIs(state);
    expect(told.map(({ state }) => state)).toEqual(['down', 'degraded', 'down', 'degraded', 'up']);
  });

  it('is down while everybody is refused, though it answers', () => {
    const { told, watch } = watched();
    watch.suspects(true);
    watch.breakerIs('halfOpen');
    watch.breakerIs('closed');
    watch.suspects(false);
    expect(told.map(({ state }) => state)).toEqual(['down', 'down', 'down', 'up']);
    expect(told[0]).toEqual({ state: 'down', breaker: 'closed', everyoneRefused: true });
  });
});
