import { describe, expect, it } from '@jest/globals';
import { ServiceWatch, type ServiceState } from './service-state.js';

function watched() {
  const told: ServiceState[] = [];
  return { told, watch: new ServiceWatch((state) => told.push(state)) };
}

describe('the state of the session service', () => {
  it('follows the circuit, and is told when it changes', () => {
    const { told, watch } = watched();
    for (const state of ['open', 'halfOpen', 'open', 'halfOpen', 'closed', 'closed'] as const) watch.breakerIs(state);
    expect(told).toEqual(['down', 'degraded', 'down', 'degraded', 'up']);
  });

  it('is down while everybody is refused, though it answers', () => {
    const { told, watch } = watched();
    watch.suspects(true);
    watch.breakerIs('halfOpen');
    watch.breakerIs('closed');
    watch.suspects(false);
    expect(told).toEqual(['down', 'up']);
  });
});
