import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { TokenKey } from '../contract/session-identity.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import { MisconfigurationDetector, type Misconfiguration } from './service-status.js';

const ann: Verdict<string> = { kind: 'authenticated', user: 'ann' };

type Recorded = readonly [token: string, verdict: Verdict<unknown>, knownUser?: unknown];

afterEach(() => void jest.restoreAllMocks());

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

describe('a misconfiguration, a wrong key or URL,', () => {
  it('is reported once when many different tokens are refused and none was authenticated', () => {
    expect(reportsAfter(refusals(19))).toEqual([]);
    expect(reportsAfter(refusals(20))).toEqual(['since startup']);
    expect(reportsAfter(refusals(2, FORBIDDEN))).toEqual([]);
    expect(reportsAfter(refusals(1_000, FORBIDDEN))).toEqual(['since startup']);
  });

  it('does not arise from one token, however often it is refused, nor from an outage', () => {
    expect(reportsAfter(Array.from({ length: 1_000 }, () => ['token', UNAUTHENTICATED] as const))).toEqual(
      [],
    );
    expect(reportsAfter(refusals(1_000, unavailable('server_error')))).toEqual([]);
  });

  it('is not reported for unknown tokens once a session was authenticated', () => {
    expect(reportsAfter([['ann', ann], ...refusals(1_000)])).toEqual([]);
    expect(reportsAfter([...refusals(20), ['ann', ann], ...refusals(1_000)])).toEqual(['since startup']);
  });

  it.each<[string, Verdict<unknown>, count: number]>([
    ['403', FORBIDDEN, 3],
    ['401', UNAUTHENTICATED, 5],
  ])(
    'is reported when sessions of several users get %s after they were accepted',
    (_status, verdict, count) => {
      expect(reportsAfter([['ann', ann], ...ends(count - 1, verdict)])).toEqual([]);
      expect(reportsAfter([['ann', ann], ...ends(count, verdict), ...ends(50, verdict)])).toEqual([
        'after acceptance',
      ]);
      expect(
        reportsAfter([['ann', ann], ...ends(count, verdict), ['ann', ann], ...ends(count, verdict)]),
      ).toEqual(['after acceptance', 'after acceptance']);
    },
  );

  it('does not arise from one user, nor while a session is accepted in between', () => {
    const ofOne = ends(50, FORBIDDEN).map(([token, verdict]): Recorded => [token, verdict, 'ann']);
    expect(reportsAfter([['ann', ann], ...ofOne])).toEqual([]);
    expect(
      reportsAfter([
        ...ends(2, FORBIDDEN),
        ['ann', ann],
        ...ends(2, FORBIDDEN, 2),
        ['ann', ann],
        ...ends(4, UNAUTHENTICATED, 4),
      ]),
    ).toEqual([]);
  });

  it('does not arise from sessions that end a few each minute', () => {
    expect(reportsAfter([['ann', ann], ...ends(50, UNAUTHENTICATED)], 15_000)).toEqual([]);
    expect(reportsAfter([['ann', ann], ...ends(5, UNAUTHENTICATED)], 14_999)).toEqual(['after acceptance']);
  });

  it('arises from strangers that get 403, before and after a session was authenticated [P36]', () => {
    expect(reportsAfter([['ann', ann], ...refusals(2, FORBIDDEN)])).toEqual([]);
    expect(reportsAfter([['ann', ann], ...refusals(3, FORBIDDEN)])).toEqual(['after acceptance']);
  });

  it('never arises from 401 of strangers once a session was authenticated', () => {
    expect(reportsAfter([...refusals(19), ['ann', ann], ...refusals(1_000)])).toEqual([]);
  });
});
