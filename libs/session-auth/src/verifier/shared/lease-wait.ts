import type { Verdict } from '../../contract/verdict.js';
import type { LookUp } from './shared-cache.js';

/** A check that waits for the holder of a lease. */
export interface LeaseWait<User> {
  readonly lookAgain: () => Promise<LookUp<User>>;
  /** Takes what a look-up found, or asks the service. */
  readonly settle: (found: LookUp<User>) => Promise<Verdict<User>>;
  /** Milliseconds after which this instance asks too. */
  readonly patienceMs: number;
  /** Milliseconds of the whole check. */
  readonly timeoutMs: number;
  readonly startedAtMs: number;
}

const FIRST_PAUSE_MS = 4;
const MAX_PAUSE_MS = 50;
const MISSING = { kind: 'missing', isHolder: false, sinceMs: undefined } as const;

/**
 * Waits until the holder of a lease has stored its answer. Asks the service as soon as the lease has ended without one. A holder may be slow for
 * reasons of its own, so that after `patienceMs` this instance asks too, and takes whichever answer comes first. It waits for one lease only:
 * refused sessions would otherwise be asked about by one instance after the other.
 */
export async function followLease<User>(lease: string, wait: LeaseWait<User>): Promise<Verdict<User>> {
  const over = leaseOver(lease, wait);
  const found = await Promise.race([over, pause(wait.startedAtMs + wait.patienceMs - performance.now())]);
  if (found) return wait.settle(found);
  const asked = wait.settle(MISSING);
  // A tombstone found now revokes the session, whatever the call under way answers.
  const shared = over.then((later) => (later.kind === 'found' || later.kind === 'revoked' ? wait.settle(later) : undefined));
  return (await firstUsable(asked, shared)) ?? asked;
}

/** Resolves with what there is instead of the lease, at the latest when the check has no time left. */
async function leaseOver<User>(lease: string, { lookAgain, startedAtMs, timeoutMs }: LeaseWait<User>): Promise<LookUp<User>> {
  const untilMs = startedAtMs + timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS; performance.now() + pauseMs < untilMs; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    await pause(pauseMs);
    const found = await Promise.race([lookAgain(), pause(untilMs - performance.now())]);
    if (found?.kind !== 'leased') return found ?? MISSING;
    if (found.lease !== lease) return MISSING;
  }
  return MISSING;
}

/** The first verdict of the service, or that of the shared cache if it comes earlier; `undefined` if both have none. */
function firstUsable<User>(asked: Promise<Verdict<User>>, shared: Promise<Verdict<User> | undefined>): Promise<Verdict<User> | undefined> {
  return new Promise((resolve) => {
    void shared.then((verdict) => verdict && resolve(verdict));
    void asked.then(async (verdict) => resolve(verdict.kind === 'unavailable' ? await shared : verdict));
  });
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms), undefined).unref());
}
