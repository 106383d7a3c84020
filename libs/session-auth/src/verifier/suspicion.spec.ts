import { describe, expect, it } from '@jest/globals';
import { DENIED, REJECTED, unavailable, type Verdict } from '../contract/verdict.js';
import { Suspicion } from './suspicion.js';

const ann: Verdict<string> = { kind: 'accepted', user: 'ann' };

function toldAfter(verdicts: readonly (readonly [token: string, verdict: Verdict<unknown>])[]): number {
  let told = 0;
  const suspicion = new Suspicion(() => (told += 1));
  for (const [token, verdict] of verdicts) suspicion.observe(token, verdict);
  return told;
}

const refusals = (count: number, verdict: Verdict<unknown> = REJECTED): [string, Verdict<unknown>][] =>
  Array.from({ length: count }, (_, index) => [`token-${index}`, verdict]);

describe('the suspicion that the key or the URL is wrong', () => {
  it('is told once when many different tokens are refused and none was accepted', () => {
    expect(toldAfter(refusals(19))).toBe(0);
    expect(toldAfter(refusals(20))).toBe(1);
    expect(toldAfter(refusals(1_000, DENIED))).toBe(1);
  });

  it('does not arise from one token, however often it is refused, nor from an outage', () => {
    expect(toldAfter(Array.from({ length: 1_000 }, () => ['token', REJECTED] as const))).toBe(0);
    expect(toldAfter(refusals(1_000, unavailable('server_error')))).toBe(0);
  });

  it('is gone for good once a session was accepted', () => {
    expect(toldAfter([...refusals(19), ['ann', ann], ...refusals(1_000)])).toBe(0);
  });
});
