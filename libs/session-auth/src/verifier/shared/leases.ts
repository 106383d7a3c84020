import { randomBytes } from 'node:crypto';
import type { Verdict } from '../../contract/outcome.js';
import type { SessionStore, StoreLease } from '../../contract/session-store.js';
import type { LookUp } from './shared-cache.js';
import type { StoreAccess } from './store-access.js';

/** How long leases last. Milliseconds. */
export interface LeaseSettings {
  /** As long as the check of a holder may take. */
  readonly leaseMs: number;
  /** How long other instances wait for a holder that has crashed or lost the store. */
  readonly graceMs: number;
}

const HOLDER_BYTES = 9;
/** Signs of life within a grace period. */
const BEATS = 3;

/** The leases of this instance. As long as it holds one, it tells the store that it is alive. */
export class Leases {
  readonly #store: SessionStore;
  readonly #access: StoreAccess;
  readonly #settings: LeaseSettings;
  readonly #holder = randomBytes(HOLDER_BYTES).toString('base64url');
  /** When each lease was taken, the oldest first. */
  readonly #held = new Map<string, number>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: SessionStore, access: StoreAccess, settings: LeaseSettings) {
    this.#store = store;
    this.#access = access;
    this.#settings = settings;
  }

  /** Returns a lease to ask the store for. */
  create(): StoreLease {
    const { leaseMs, graceMs } = this.#settings;
    return { id: this.#newId(), holder: this.#holder, ttlMs: leaseMs, graceMs };
  }

  /** Returns a lease that lasts for so many milliseconds, whether this instance is alive or not. */
  createLock(ttlMs: number): StoreLease {
    return { id: this.#newId(), holder: this.#holder, ttlMs, graceMs: ttlMs };
  }

  /** Keeps a lease that the store gave, until {@link end}. */
  hold(id: string): void {
    this.#held.set(id, performance.now());
    this.#beatLater();
  }

  /** This instance does not ask any more. */
  end(id: string): void {
    this.#held.delete(id);
  }

  /** Gives up all leases. */
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

  /** Leases that are younger than one beat need none: most calls end sooner. */
  #beat(): void {
    this.#timer = undefined;
    const [oldestMs] = this.#held.values();
    if (oldestMs === undefined) return;
    if (performance.now() - oldestMs >= this.#beatMs / 2) {
      void this.#access.try(() => this.#store.keepAlive(this.#holder, this.#settings.graceMs).then(() => true));
    }
    this.#beatLater();
  }

  get #beatMs(): number {
    return this.#settings.graceMs / BEATS;
  }
}

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
