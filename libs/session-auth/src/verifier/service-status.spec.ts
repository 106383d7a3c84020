import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { ActiveCause } from '../contract/causes.js';
import {
  FORBIDDEN,
  UNAUTHENTICATED,
  unavailable,
  type UnavailableReason,
  type Verdict,
} from '../contract/outcome.js';
import type { TokenKey } from '../contract/session-identity.js';
import {
  type Misconfiguration,
  MisconfigurationDetector,
  type ServiceState,
  ServiceStatusTracker,
  type ServiceStatus,
} from './service-status.js';

afterEach(() => void jest.restoreAllMocks());

function watched() {
  const changes: ServiceStatus[] = [];
  const reports: unknown[][] = [];
  const report =
    (name: string) =>
    (...details: unknown[]) =>
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

const accepted: Verdict<unknown> = { kind: 'authenticated', user: {} };
const ACTIVE = { subject: '', sinceMs: 0, failures: 1, isRecovering: false };
const KEY_REFUSED: ActiveCause = { cause: 'key refused', ...ACTIVE };

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

  it('is degraded, and never down, for failures of strangers', () => {
    const { changes, watch } = watched();
    for (const state of ['open', 'halfOpen', 'closed'] as const) watch.setBreaker('strangers', state);
    expect(changes.map(({ state }) => state)).toEqual(['degraded', 'degraded', 'up']);
    watch.setBreaker('strangers', 'open');
    watch.setBreaker('known', 'open');
    expect(changes.at(-1)?.state).toBe('down');
  });

  it('is degraded while the revocations of other instances do not arrive, and is published once for each change', () => {
    const { changes, watch } = watched();
    for (const state of ['off', 'connected', 'connected', 'interrupted', 'interrupted', 'connected'] as const)
      watch.setRevocationBus(state);
    const seen = changes.map(({ state, revocationBus }) => `${state} ${revocationBus.state}`);
    expect(seen).toEqual(['up connected', 'degraded interrupted', 'up connected']);
  });

  it('counts the messages that no secret opens, and stays up [Q21]', () => {
    const { changes, watch } = watched();
    watch.countUnreadableMessage();
    watch.countUnreadableMessage();
    const seen = changes.map(({ state, revocationBus }) => [state, revocationBus.unreadableMessages]);
    expect(seen.flat()).toEqual(['up', 1, 'up', 2]);
  });

  it('is down when three checks of known sessions failed in a row, until the service answers one [P37]', () => {
    const { changes, watch } = watched();
    for (let check = 0; check < 4; check += 1) watch.record(unavailable('server_error'), TOKEN, 1);
    watch.record(UNAUTHENTICATED, TOKEN);
    watch.record(UNAUTHENTICATED, TOKEN);
    const seen = changes.map(({ state, failedChecks }) => `${state} ${failedChecks}`);
    expect(seen).toEqual(['up 1', 'up 2', 'down 3', 'down 4', 'up 0']);
  });

  it.each<[UnavailableReason, others: readonly number[], ServiceState]>([
    ['malformed', [1, 1, 1], 'up'],
    ['malformed', [1, 2, 1], 'down'],
    ['busy', [1, 2, 3], 'up'],
    ['shutting_down', [1, 2, 3], 'up'],
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
    watch.record(accepted, TOKEN);
    for (const token of ['1', '2', '3', '4', '5'] as TokenKey[]) watch.record(UNAUTHENTICATED, token, token);
    expect(reports).toEqual([]);
    for (const caller of [1, 2, 3, 4, 5]) watch.record(UNAUTHENTICATED, TOKEN, caller);
    expect(reports).toEqual([['occurred', 'key refused', '', expect.any(String), expect.any(String)]]);
  });

  it('has a sign of a wrong key in twenty sign-ins if none was accepted, nor a session, and counts on', () => {
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
    const { reports: others, watch: other } = watched();
    other.record(accepted, TOKEN);
    for (let signIn = 0; signIn < 100; signIn += 1) other.signInAnswered(false);
    expect(others).toEqual([]);
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
    const causes: ActiveCause[] = [{ cause: 'rule failed', ...ACTIVE }];
    watch.setCauses(causes, true);
    watch.setCauses(causes, false);
    watch.setCauses([], false);
    expect(changes.map(({ state }) => state)).toEqual(['degraded', 'up', 'up']);
    expect(changes.map((status) => status.causes)).toEqual([causes, causes, []]);
  });
});

type Recorded = readonly [token: string, verdict: Verdict<unknown>, knownUser?: unknown];

/** Records verdicts, each `everyMs` milliseconds after the one before. */
function reportsAfter(verdicts: readonly Recorded[], everyMs = 0): Misconfiguration[] {
  const reports: Misconfiguration[] = [];
  let nowMs = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const detector = new MisconfigurationDetector((sign) => reports.push(sign));
  for (const [token, verdict, knownUser] of verdicts) {
    detector.record(token as TokenKey, verdict, knownUser);
    nowMs += everyMs;
  }
  return reports;
}

/** The sessions of different users, which were accepted before, are refused. */
const ends = (count: number, verdict: Verdict<unknown>, first = 0): Recorded[] =>
  Array.from({ length: count }, (_, index) => [`known-${index}`, verdict, first + index]);

const refusals = (count: number, verdict: Verdict<unknown> = UNAUTHENTICATED): Recorded[] =>
  Array.from({ length: count }, (_, index) => [`token-${index}`, verdict]);

const afterAcceptance = (verdicts: readonly Recorded[], everyMs?: number) =>
  reportsAfter([['ann', accepted], ...verdicts], everyMs);

describe('a misconfiguration, a wrong key or URL,', () => {
  it('is reported once when many different tokens are refused and none was authenticated', () => {
    expect(reportsAfter(refusals(19))).toEqual([]);
    expect(reportsAfter(refusals(20))).toEqual(['since startup']);
    expect(reportsAfter(refusals(2, FORBIDDEN))).toEqual([]);
    expect(reportsAfter(refusals(1_000, FORBIDDEN))).toEqual(['since startup']);
  });

  it('does not arise from one token, however often it is refused, nor from an outage', () => {
    expect(reportsAfter(Array<Recorded>(50).fill(['token', UNAUTHENTICATED]))).toEqual([]);
    expect(reportsAfter(refusals(50, unavailable('server_error')))).toEqual([]);
  });

  it('is not reported for unknown tokens once a session was authenticated', () => {
    expect(reportsAfter([...refusals(19), ['ann', accepted], ...refusals(50)])).toEqual([]);
    expect(reportsAfter([...refusals(20), ['ann', accepted], ...refusals(50)])).toEqual(['since startup']);
  });

  it.each<[string, Verdict<unknown>, count: number]>([
    ['403', FORBIDDEN, 3],
    ['401', UNAUTHENTICATED, 5],
  ])(
    'is reported when sessions of several users get %s after they were accepted',
    (_status, verdict, count) => {
      expect(afterAcceptance(ends(count - 1, verdict))).toEqual([]);
      const outage = [...ends(count, verdict), ...ends(50, verdict), ['ann', accepted] as const];
      expect(afterAcceptance([...outage, ...outage])).toEqual(Array(2).fill('after acceptance'));
    },
  );

  it('does not arise from one user, nor while a session is accepted in between', () => {
    const ofOne = ends(50, FORBIDDEN).map(([token, verdict]): Recorded => [token, verdict, 'ann']);
    expect(afterAcceptance(ofOne)).toEqual([]);
    const between = [['ann', accepted] as const, ...ends(4, UNAUTHENTICATED, 4)];
    expect(
      reportsAfter([...ends(2, FORBIDDEN), ['ann', accepted], ...ends(2, FORBIDDEN, 2), ...between]),
    ).toEqual([]);
  });

  it('does not arise from sessions that end a few each minute', () => {
    expect(afterAcceptance(ends(50, UNAUTHENTICATED), 15_000)).toEqual([]);
    expect(afterAcceptance(ends(5, UNAUTHENTICATED), 14_999)).toEqual(['after acceptance']);
  });

  it('arises from strangers that get 403, before and after a session was authenticated [P36]', () => {
    expect(afterAcceptance(refusals(2, FORBIDDEN))).toEqual([]);
    expect(afterAcceptance(refusals(3, FORBIDDEN))).toEqual(['after acceptance']);
  });
});
