import { describe, expect, it } from '@jest/globals';
import type { TokenKey } from '../contract/session-identity.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import { MisconfigurationDetector } from './misconfiguration-detector.js';

const ann: Verdict<string> = { kind: 'authenticated', user: 'ann' };

function reportsAfter(verdicts: readonly (readonly [token: string, verdict: Verdict<unknown>])[]): boolean[] {
  const reports: boolean[] = [];
  const detector = new MisconfigurationDetector((suspected) => reports.push(suspected));
  for (const [token, verdict] of verdicts) detector.record(token as TokenKey, verdict);
  return reports;
}

const refusals = (count: number, verdict: Verdict<unknown> = UNAUTHENTICATED): [string, Verdict<unknown>][] =>
  Array.from({ length: count }, (_, index) => [`token-${index}`, verdict]);

describe('a misconfiguration, a wrong key or URL,', () => {
  it('is reported once when many different tokens are refused and none was authenticated', () => {
    expect(reportsAfter(refusals(19))).toEqual([]);
    expect(reportsAfter(refusals(20))).toEqual([true]);
    expect(reportsAfter(refusals(1_000, FORBIDDEN))).toEqual([true]);
  });

  it('does not arise from one token, however often it is refused, nor from an outage', () => {
    expect(reportsAfter(Array.from({ length: 1_000 }, () => ['token', UNAUTHENTICATED] as const))).toEqual([]);
    expect(reportsAfter(refusals(1_000, unavailable('server_error')))).toEqual([]);
  });

  it('is withdrawn, once, when a session is authenticated', () => {
    expect(reportsAfter([...refusals(20), ['ann', ann], ['ann', ann], ...refusals(1_000)])).toEqual([true, false]);
  });

  it('never arises once a session was authenticated', () => {
    expect(reportsAfter([...refusals(19), ['ann', ann], ...refusals(1_000)])).toEqual([]);
  });
});
