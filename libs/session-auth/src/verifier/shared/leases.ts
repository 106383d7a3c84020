import { randomBytes } from 'node:crypto';
import { unavailable, type Verdict } from '../../contract/outcome.js';
import type { SessionStore, StoreLease } from '../../contract/session-store.js';
import type { LookUp } from './shared-cache.js';
import type { StoreAccess } from './store-access.js';

/** Lifetimes of leases, in milliseconds. */
export interface LeaseSettings {
  /** Lifetime of a lease: as long as the check of its holder may take. */
  readonly leaseMs: number;
  /** Time that other instances wait for a holder that has crashed or lost its connection to the store. */
  readonly graceMs: number;
}

const HOLDER_BYTES = 9;
/** Heartbeats within a grace period. */
const HEARTBEATS = 3;

/** The leases of this instance. While it holds one, it sends heartbeats to the store. */
export class Leases {
  readonly #store: SessionStore;
  readonly #access: StoreAccess;
  readonly #settings: LeaseSettings;
  readonly #holder = randomBytes(HOLDER_BYTES).toString('base64url');
  /** Time at which each lease was taken, the oldest first. */
  readonly #held = new Map<string, number>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: SessionStore, access: StoreAccess, settings: LeaseSettings) {
    this.#store = store;
    this.#access = access;
    this.#settings = settings;
  }

  /** Returns a new lease to request from the store. */
  create(): StoreLease {
    const { leaseMs, graceMs } = this.#settings;
    return { id: this.#newId(), holder: this.#holder, ttlMs: leaseMs, graceMs };
  }

  /** Returns a lease that lasts for `ttlMs` milliseconds, without heartbeats. */
  createLock(ttlMs: number): StoreLease {
    return { id: this.#newId(), holder: this.#holder, ttlMs, graceMs: ttlMs };
  }

  /** Sends heartbeats for a lease that the store granted, until {@link end}. */
  hold(id: string): void {
    this.#held.set(id, performance.now());
    this.#beatLater();
  }

  /** Ends the heartbeats of a lease, because its call is over. */
  end(id: string): void {
    this.#held.delete(id);
  }

  /** Ends all heartbeats. */
  close(): void {
    this.#held.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #newId(): string {
    return `${this.#holder}.${(this.#count += 1).toString(36)}`;
  }

  #beatLater(): void {
    this.#timer ??= setTimeout(() => this.#beat(), this.#beatMs).unref();
  }

  /** A lease younger than half a heartbeat interval needs no heartbeat yet: most calls end sooner. */
  #beat(): void {
    this.#timer = undefined;
    const [oldestMs] = this.#held.values();
    if (oldestMs === undefined) return;
    if (performance.now() - oldestMs >= this.#beatMs / 2) {
      void this.#access.try(() => this.#store.keepAlive(this.#holder, this.#settings.graceMs));
    }
    this.#beatLater();
  }

  get #beatMs(): number {
    return this.#settings.graceMs / HEARTBEATS;
  }
}

/** A check that waits for the holder of a lease. */
interface LeaseWait<User> {
  readonly lookAgain: () => Promise<LookUp<User>>;
  /** Returns the session that a look-up found, or calls the service. */
  readonly settle: (found: LookUp<User>) => Promise<Verdict<User>>;
  /** Milliseconds after which this instance makes a call too: the check has just enough time left for it. */
  readonly patienceMs: number;
  /** Total time of the check, in milliseconds. */
  readonly timeoutMs: number;
  readonly startedAtMs: number;
  /** Checks of this instance that wait for a lease. */
  readonly waiters: { count: number };
}

const FIRST_PAUSE_MS = 4;
const MAX_PAUSE_MS = 50;
/** Milliseconds of pause for each check of this process that waits for a lease: together they look into the store 2 000 times a second. */
const PAUSE_PER_CHECK_MS = 0.5;
const MISSING = { kind: 'missing', isHolder: false, sinceMs: undefined } as const;
/**
 * Waits until the holder of a lease has stored its answer. Calls the service as soon as the lease has ended without an answer, or after
 * `patienceMs`, and uses the first answer. It waits for one lease only: otherwise refused sessions, which are not stored, would be checked by one
 * instance after the other. If its own call finds no place, it waits on for the other, and tries again: the holder has a place.
 */
export async function followLease<User>(lease: string, wait: LeaseWait<User>): Promise<Verdict<User>> {
  wait.waiters.count += 1;
  try {
    const leaseEnd = waitForLeaseEnd(lease, wait);
    const found = await Promise.race([leaseEnd, pause(wait.startedAtMs + wait.patienceMs - performance.now())]);
    if (found && found.kind !== 'missing') return await wait.settle(found);
    const own = wait.settle(found ?? MISSING);
    // A tombstone found now revokes the session, regardless of the answer to the call in flight.
    const shared = leaseEnd.then((later) => (later.kind === 'found' || later.kind === 'revoked' ? wait.settle(later) : undefined));
    const verdict = (await firstUsable(own, shared)) ?? (await own);
    return isBusy(verdict) ? await tryAgain(verdict, wait) : verdict;
  } finally {
    wait.waiters.count -= 1;
  }
}

/** Looks into the store and calls the service again while there is time. Without the store, the check would have had its place in the queue by now. */
async function tryAgain<User>(busy: Verdict<User>, wait: LeaseWait<User>): Promise<Verdict<User>> {
  const { lookAgain, settle, startedAtMs, timeoutMs } = wait;
  const untilMs = startedAtMs + timeoutMs;
  let verdict = busy;
  while (isBusy(verdict) && performance.now() + pauseMs(wait, MAX_PAUSE_MS) < untilMs) {
    await pause(pauseMs(wait, MAX_PAUSE_MS));
    const found = await Promise.race([lookAgain(), pause(untilMs - performance.now())]);
    if (found && found.kind !== 'leased') verdict = await settle(found.kind === 'missing' ? MISSING : found);
  }
  return isBusy(verdict) ? unavailable('timeout') : verdict;
}

function isBusy(verdict: Verdict<unknown>): boolean {
  return verdict.kind === 'unavailable' && verdict.reason === 'busy';
}

/** Resolves with the entry that replaced the lease, or with `missing` if there is none or the check has no time left. */
async function waitForLeaseEnd<User>(lease: string, wait: LeaseWait<User>): Promise<LookUp<User>> {
  const { lookAgain, startedAtMs, timeoutMs } = wait;
  const untilMs = startedAtMs + timeoutMs;
  for (let nextMs = FIRST_PAUSE_MS; performance.now() + pauseMs(wait, nextMs) < untilMs; nextMs = Math.min(nextMs * 2, MAX_PAUSE_MS)) {
    await pause(pauseMs(wait, nextMs));
    const found = await Promise.race([lookAgain(), pause(untilMs - performance.now())]);
    if (found?.kind !== 'leased') return found ?? MISSING;
    if (found.lease !== lease) return MISSING;
  }
  return MISSING;
}

/** Resolves with the first usable verdict: of this instance's call, or of the shared cache. Resolves with `undefined` if there is neither. */
function firstUsable<User>(own: Promise<Verdict<User>>, shared: Promise<Verdict<User> | undefined>): Promise<Verdict<User> | undefined> {
  return new Promise((resolve) => {
    void shared.then((verdict) => verdict && resolve(verdict));
    void own.then(async (verdict) => resolve(verdict.kind === 'unavailable' ? await shared : verdict));
  });
}

function pauseMs({ waiters }: Pick<LeaseWait<unknown>, 'waiters'>, leastMs: number): number {
  return Math.max(leastMs, waiters.count * PAUSE_PER_CHECK_MS);
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms), undefined).unref());
}
