import { describe, expect, it } from '@jest/globals';
import type { ActiveCause } from '../contract/causes.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type UnavailableReason } from '../contract/outcome.js';
import type { TokenKey } from '../contract/session-identity.js';
import { type ServiceState, ServiceStatusTracker, type ServiceStatus } from './service-status.js';

function watched() {
  const changes: ServiceStatus[] = [];
  const reports: unknown[][] = [];
  const report =
    (name: string) =>
    (...details: unknown[]): void =>
      void reports.push([name, ...details]);
  const watch = new ServiceStatusTracker((status) => changes.push(status), {
    occurred: report('occurred'),
    recovered: report('recovered'),
    callFailed: report('failed'),
    callAnswered: report('answered'),
  });
  return { changes, reports, watch };
}

const TOKEN = 'token' as TokenKey;

const KEY_REFUSED: ActiveCause = {
  cause: 'key refused',
  subject: '',
  sinceMs: 0,
  failures: 1,
  isRecovering: false,
};

describe('the state of the session service', () => {
  it('follows the breaker of known sessions, and is published when it changes', () => {
    const { changes, watch } = watched();
    for (const state of ['closed', 'open', 'halfOpen', 'open', 'halfOpen', 'closed', 'closed'] as const)
      watch.setBreaker('known', state);
    expect(changes.map(({ state }) => state)).toEqual(['down', 'degraded', 'down', 'degraded', 'up']);
  });

  it('is degraded, not down, while the key is refused', () => {
    const { changes, watch } = watched();
    watch.setCauses([KEY_REFUSED], true);
    watch.setBreaker('known', 'halfOpen');
    watch.setBreaker('known', 'closed');
    watch.setCauses([{ ...KEY_REFUSED, isRecovering: true }], false);
    expect(changes.map(({ state }) => state)).toEqual(['degraded', 'degraded', 'degraded', 'up']);
    expect(changes.map((status) => status.misconfigurationSuspected)).toEqual([true, true, true, false]);
    expect(changes[0]).toEqual({
      state: 'degraded',
      breakers: { known: 'closed', strangers: 'closed' },
      misconfigurationSuspected: true,
      revocationBus: { state: 'off', unreadableMessages: 0 },
      failedChecks: 0,
      causes: [KEY_REFUSED],
    });
  });

  it('is never down for failures of strangers', () => {
    const { changes, watch } = watched();
    watch.setCauses([KEY_REFUSED], true);
    for (const state of ['open', 'halfOpen', 'closed'] as const) watch.setBreaker('strangers', state);
    expect(changes.map(({ state }) => state)).toEqual(Array(4).fill('degraded'));
    watch.setBreaker('strangers', 'open');
    watch.setBreaker('known', 'open');
    expect(changes.at(-1)?.state).toBe('down');
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
    watch.countUnreadableMessage();
    watch.countUnreadableMessage();
    expect(changes.map(({ state, revocationBus }) => [state, revocationBus.unreadableMessages])).toEqual([
      ['up', 1],
      ['up', 2],
    ]);
  });

  it('is down when three checks of known sessions failed in a row, until the service answers one [P37]', () => {
    const { changes, watch } = watched();
    for (let check = 0; check < 4; check += 1) watch.record(unavailable('server_error'), TOKEN, 1);
    watch.record(UNAUTHENTICATED, TOKEN);
    watch.record(UNAUTHENTICATED, TOKEN);
    expect(changes.map(({ state, failedChecks }) => [state, failedChecks])).toEqual([
      ['up', 1],
      ['up', 2],
      ['down', 3],
      ['down', 4],
      ['up', 0],
    ]);
  });

  it.each<[UnavailableReason, others: readonly number[], ServiceState]>([
    ['malformed', [1, 1, 1], 'up'],
    ['unexpected_status', [1, 1, 1], 'up'],
    ['malformed', [1, 2, 1], 'down'],
    ['busy', [1, 2, 3], 'up'],
    ['shutting_down', [1, 2, 3], 'up'],
    ['timeout', [1, 1, 1], 'down'],
  ])('after failures with %s of %j is %s', (reason, callers, state) => {
    const { changes, watch } = watched();
    for (const caller of callers) watch.record(unavailable(reason), TOKEN, caller);
    expect(changes.at(-1)?.state ?? 'up').toBe(state);
  });

  it('is up after an outage while the checks of one user alone fail, however often', () => {
    const { changes, watch } = watched();
    for (const caller of [1, 2, 3]) watch.record(unavailable('timeout'), TOKEN, caller);
    watch.record(UNAUTHENTICATED, TOKEN);
    for (let check = 0; check < 3; check += 1) watch.record(unavailable('malformed'), TOKEN, 1);
    expect(changes.map(({ state }) => state)).toEqual(['up', 'up', 'down', 'up', 'up', 'up', 'up']);
  });

  it('is evidence of the end of causes, while there are any', () => {
    const { reports, watch } = watched();
    const accepted = { kind: 'authenticated', user: {} } as const;
    watch.record(accepted, TOKEN);
    watch.setCauses([KEY_REFUSED], true);
    watch.record(UNAUTHENTICATED, TOKEN);
    watch.record(accepted, TOKEN);
    expect(reports).toEqual([
      ['answered', 'user_details', false],
      ['answered', 'user_details', true],
      ['recovered', 'key refused'],
      ['recovered', 'key refused', 'sign-ins'],
    ]);
  });

  it('has no sign of a wrong key in sessions that end, if their users are unknown', () => {
    const { reports, watch } = watched();
    watch.record({ kind: 'authenticated', user: {} }, TOKEN);
    for (const token of ['1', '2', '3', '4', '5'] as TokenKey[]) watch.record(UNAUTHENTICATED, token, token);
    expect(reports).toEqual([]);
    for (const caller of [1, 2, 3, 4, 5]) watch.record(UNAUTHENTICATED, TOKEN, caller);
    expect(reports).toEqual([['occurred', 'key refused', '', expect.any(String), expect.any(String)]]);
  });

  it('has a sign of a wrong key in twenty sign-ins without one that was accepted, and counts on', () => {
    const { reports, watch } = watched();
    const sign = ['occurred', 'key refused', 'sign-ins', 'every sign-in has been refused since startup', ''];
    const refused = (count: number): void => {
      for (let signIn = 0; signIn < count; signIn += 1) watch.signInAnswered(false);
    };
    refused(19);
    expect(reports).toEqual([]);
    refused(2);
    watch.signInAnswered(true);
    refused(100);
    expect(reports).toEqual([sign, sign, ['recovered', 'key refused', 'sign-ins']]);
  });

  it('has no sign of a wrong key in sign-ins if a session was accepted', () => {
    const { reports, watch } = watched();
    watch.record({ kind: 'authenticated', user: {} }, TOKEN);
    for (let signIn = 0; signIn < 100; signIn += 1) watch.signInAnswered(false);
    expect(reports).toEqual([]);
  });

  it('counts the refusals after the first sign of a wrong key', () => {
    const { reports, watch } = watched();
    for (const caller of [1, 2, 3]) watch.record(FORBIDDEN, TOKEN, caller);
    watch.setCauses([KEY_REFUSED], true);
    watch.record(FORBIDDEN, TOKEN, 4);
    expect(reports.filter(([name]) => name === 'occurred')).toEqual([
      ['occurred', 'key refused', '', 'every token has been refused since startup', ''],
      ['occurred', 'key refused'],
    ]);
  });

  it('is degraded by causes that degrade it, and has every cause', () => {
    const { changes, watch } = watched();
    const causes: ActiveCause[] = [
      { cause: 'rule failed', subject: '', sinceMs: 0, failures: 1, isRecovering: false },
    ];
    watch.setCauses(causes, true);
    watch.setCauses(causes, false);
    watch.setCauses([], false);
    expect(changes.map((status) => [status.state, status.causes])).toEqual([
      ['degraded', causes],
      ['up', causes],
      ['up', []],
    ]);
  });
});
