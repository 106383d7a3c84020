import type { Verdict } from '../contract/verdict.js';
import { ACCESS_DENIED, SESSION_REJECTED, unavailableDenial, type GuardDenial } from './http-denial.js';

/** The denial that a verdict stands for. */
export function denialOfVerdict(verdict: Exclude<Verdict<unknown>, { kind: 'authenticated' }>): GuardDenial {
  if (verdict.kind === 'unavailable') return unavailableDenial(verdict);
  return verdict.kind === 'forbidden' ? ACCESS_DENIED : SESSION_REJECTED;
}
