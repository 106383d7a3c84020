import { DENIALS } from '../../contract/diagnostics.js';
import type { GuardDenial } from '../../guard/http-denial.js';

/** Publishes the denial of a handshake to the channel of the guard's denials. */
export function reportDenial({ code }: GuardDenial): void {
  if (DENIALS.hasSubscribers) DENIALS.publish({ code });
}
