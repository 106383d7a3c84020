import { DENIALS } from '../contract/diagnostics.js';
import type { GuardDenial } from './http-denial.js';

/** Publishes a denial to its diagnostics channel, if that has subscribers. */
export function reportDenial({ code }: GuardDenial): void {
  if (DENIALS.hasSubscribers) DENIALS.publish({ code });
}
