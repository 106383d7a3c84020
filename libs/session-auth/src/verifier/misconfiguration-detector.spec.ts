import { describe, expect, it } from '@jest/globals';
import type { TokenKey } from '../contract/session-identity.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import { MisconfigurationDetector } from './misconfiguration-detector.js';

const ann: Verdict<string> = { kind: 'authenticated', user: 'ann' };

function toldAfter(verdicts: readonly (readonly [token: string, verdict: Verdict<unknown>])[]): boolean[] {
  const told: boolean[] = [];
  const suspicion = new MisconfigurationDetector((suspected) => told.push(suspected));
  for (const [token, verdict] of verdicts) suspicion.record(token as TokenKey, verdict);
  return told;
}

const refusals = (count: number, verdict: Verdict<unknown> = UNAUTHENTICATED): [string, Verdict<unknown>][] =>
  Array.from({ length: count }, (_, index) => [`token-${index}`, verdict]);

describe('the suspicion of a wrong key or URL', () => {
  it('is reported once when many different tokens are refused and none was authenticated', () => {
    expect(toldAfter(refusals(19))).toEqual([]);
    expect(toldAfter(refusals(20))).toEqual([true]);
    expect(toldAfter(refusals(1_000, FORBIDDEN))).toEqual([true]);
  });

  it('does not arise from one token, however often it is refused, nor from an outage', () => {
    expect(toldAfter(Array.from({ length: 1_000 }, () => ['token', UNAUTHENTICATED] as const))).toEqual([]);
    expect(toldAfter(refusals(1_000, unavailable('server_error')))).toEqual([]);
  });

  it('is withdrawn, once, when a session is authenticated', () => {
    expect(toldAfter([...refusals(20), ['ann', ann], ['ann', ann], ...refusals(1_000)])).toEqual([true, false]);
  });

  it('never arises once a session was authenticated', () => {
    expect(toldAfter([...refusals(19), ['ann', ann], ...refusals(1_000)])).toEqual([]);
  });
});
