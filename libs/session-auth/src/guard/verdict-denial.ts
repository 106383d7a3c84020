import type { Verdict } from '../contract/verdict.js';
import { FORBIDDEN, TOKEN_REFUSED, unavailableDenial, type GuardDenial } from './http-denial.js';

/** The denial that a verdict stands for. */
export function denialOfVerdict(verdict: Exclude<Verdict<unknown>, { kind: 'accepted' }>): GuardDenial {
  if (verdict.kind === 'unavailable') return unavailableDenial(verdict);
  return verdict.kind === 'denied' ? FORBIDDEN : TOKEN_REFUSED;
}
