import { describe, expect, it } from '@jest/globals';
import { ServiceStatusTracker, UP, type ServiceStatus } from './service-status.js';

function watched() {
  const changes: ServiceStatus[] = [];
  return { changes, watch: new ServiceStatusTracker((status) => changes.push(status)) };
}

describe('the state of the session service', () => {
  it('follows the breaker of known sessions, and is published when it changes', () => {
    const { changes, watch } = watched();
    for (const state of ['closed', 'open', 'halfOpen', 'open', 'halfOpen', 'closed', 'closed'] as const)
      watch.setBreaker('known', state);
    expect(changes.map(({ state }) => state)).toEqual(['down', 'degraded', 'down', 'degraded', 'up']);
  });

  it('is degraded, not down, while every token is refused', () => {
    const { changes, watch } = watched();
    watch.setMisconfigurationSuspected(true);
    watch.setMisconfigurationSuspected(true);
    watch.setBreaker('known', 'halfOpen');
    watch.setBreaker('known', 'closed');
    watch.setMisconfigurationSuspected(false);
    expect(changes.map(({ state }) => state)).toEqual(['degraded', 'degraded', 'degraded', 'up']);
    expect(changes[0]).toEqual({
      state: 'degraded',
      breakers: { known: 'closed', strangers: 'closed' },
      misconfigurationSuspected: true,
      revocationBus: { state: 'off', unreadableMessages: 0 },
    });
  });

  it('is never down for failures of strangers', () => {
    const { changes, watch } = watched();
    watch.setMisconfigurationSuspected(true);
    for (const state of ['open', 'halfOpen', 'closed'] as const) watch.setBreaker('strangers', state);
    expect(changes.map(({ state }) => state)).toEqual(Array(4).fill('degraded'));
    watch.setBreaker('strangers', 'open');
    watch.setBreaker('known', 'open');
    expect(changes.at(-1)).toEqual({
      state: 'down',
      breakers: { known: 'open', strangers: 'open' },
      misconfigurationSuspected: true,
      revocationBus: { state: 'off', unreadableMessages: 0 },
    });
  });

  it('is up before the first call', () => {
    expect(UP).toMatchObject({
      state: 'up',
      misconfigurationSuspected: false,
      revocationBus: { state: 'off', unreadableMessages: 0 },
    });
  });

  it('is degraded for failures of strangers alone', () => {
    const { changes, watch } = watched();
    for (const state of ['open', 'halfOpen', 'closed'] as const) watch.setBreaker('strangers', state);
    expect(changes.map(({ state }) => state)).toEqual(['degraded', 'degraded', 'up']);
  });

  it('is degraded while the revocations of other instances do not arrive, and is published once for each change', () => {
    const { changes, watch } = watched();
    for (const state of ['off', 'connected', 'connected', 'interrupted', 'interrupted', 'connected'] as const)
      watch.setRevocationBus(state);
    expect(changes.map(({ state, revocationBus }) => [state, revocationBus.state])).toEqual([
      ['up', 'connected'],
      ['degraded', 'interrupted'],
      ['up', 'connected'],
    ]);
  });

  it('counts the messages that no secret opens, and stays up [Q21]', () => {
    const { changes, watch } = watched();
    expect([watch.countUnreadableMessage(), watch.countUnreadableMessage()]).toEqual([true, false]);
    expect(changes.map(({ state, revocationBus }) => [state, revocationBus.unreadableMessages])).toEqual([
      ['up', 1],
      ['up', 2],
    ]);
  });
});
