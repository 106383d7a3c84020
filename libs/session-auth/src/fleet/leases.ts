import { randomBytes } from 'node:crypto';
import { unavailable, type Verdict } from '../contract/outcome.js';
import type { StoreLease } from '../contract/session-store.js';
import type { SharedTierSettings } from '../verifier/shared-tier.js';
import { UNANSWERED, type LookUp } from './shared-cache.js';
import type { StoreAccess } from './store-access.js';

const HOLDER_BYTES = 9;
const HEARTBEATS = 3;

export class Leases {
  readonly #access: StoreAccess;
  readonly #settings: Pick<SharedTierSettings, 'leaseMs' | 'graceMs'>;
  readonly #holder = randomBytes(HOLDER_BYTES).toString('base64url');
  readonly #held = new Map<string, number>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(access: StoreAccess, settings: Pick<SharedTierSettings, 'leaseMs' | 'graceMs'>) {
    this.#access = access;
    this.#settings = settings;
  }

  create(): StoreLease {
    const { leaseMs, graceMs } = this.#settings;
    return { id: this.#newId(), holder: this.#holder, ttlMs: leaseMs, graceMs };
  }

  /** Returns a lease that lasts for `ttlMs` milliseconds, without heartbeats. */
  createLock(ttlMs: number): StoreLease {
    return { id: this.#newId(), holder: this.#holder, ttlMs, graceMs: ttlMs };
  }

  hold(id: string): void {
    this.#held.set(id, performance.now());
    this.#beatLater();
  }

  end(id: string): void {
    this.#held.delete(id);
  }

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
      void this.#access.try(() => this.#access.store.keepAlive(this.#holder, this.#settings.graceMs));
    }
    this.#beatLater();
  }

  get #beatMs(): number {
    return this.#settings.graceMs / HEARTBEATS;
  }
}

interface LeaseWait<User> {
  readonly lookAgain: () => Promise<LookUp<User>>;
  readonly settle: (found: LookUp<User>) => Promise<Verdict<User>>;
  /** Milliseconds after which this instance makes a call too: the check has just enough time left for it. */
  readonly patienceMs: number;
  readonly timeoutMs: number;
  readonly startedAtMs: number;
}

interface Follower<User> extends LeaseWait<User> {
  readonly untilMs: number;
  readonly over: Promise<undefined>;
}

const FIRST_PAUSE_MS = 4;
const MAX_PAUSE_MS = 50;

/**
 * The checks of this instance that wait until another instance, which holds the lease of their session, has
 * stored its answer.
 */
export class LeaseFollowers<User> {
  readonly #turns = new LookUpTurns();

  /**
   * Calls the service as soon as the lease has ended without an answer, or after `patienceMs`, and uses the
   * first answer. Waits for one lease only: otherwise refused sessions, which are not stored, would be
   * checked by one instance after the other. If its own call finds no place, it waits on for the other, and
   * tries again: the holder has a place.
   */
  async follow(lease: string, wait: LeaseWait<User>): Promise<Verdict<User>> {
    const untilMs = wait.startedAtMs + wait.timeoutMs;
    const over = pause(untilMs - performance.now());
    const patience = pause(wait.startedAtMs + wait.patienceMs - performance.now());
    const verdict = await this.#follow(lease, { ...wait, untilMs, over: over.ended }, patience.ended);
    clearTimeout(over.timer);
    clearTimeout(patience.timer);
    return verdict;
  }

  async #follow(
    lease: string,
    follower: Follower<User>,
    patience: Promise<undefined>,
  ): Promise<Verdict<User>> {
    const { settle } = follower;
    const leaseEnd = this.#waitFor(
      (found) => found.kind !== 'leased' || found.lease !== lease,
      follower,
    ).then(withoutLease);
    const found = await Promise.race([leaseEnd, patience]);
    if (found && found.kind !== 'missing') return settle(found);
    const own = settle(found ?? UNANSWERED);
    // A tombstone found now revokes the session, regardless of the answer to the call in flight.
    const shared = leaseEnd.then((later) =>
      later.kind === 'found' || later.kind === 'revoked' ? settle(later) : undefined,
    );
    const verdict = (await firstUsable(own, shared)) ?? (await own);
    return isBusy(verdict) ? this.#tryAgain(follower) : verdict;
  }

  /**
   * Looks into the store and calls the service again while there is time. Without the store, the check would
   * have had its place in the queue by now.
   */
  async #tryAgain(follower: Follower<User>): Promise<Verdict<User>> {
    for (;;) {
      const found = await this.#waitFor(({ kind }) => kind !== 'leased', follower, MAX_PAUSE_MS);
      if (!found) return unavailable('timeout');
      const verdict = await follower.settle(withoutLease(found));
      if (!isBusy(verdict)) return verdict;
    }
  }

  async #waitFor(
    isAwaited: (found: LookUp<User>) => boolean,
    { lookAgain, untilMs, over }: Follower<User>,
    firstPauseMs = FIRST_PAUSE_MS,
  ): Promise<LookUp<User> | undefined> {
    for (
      let pauseMs = firstPauseMs;
      performance.now() + pauseMs < untilMs;
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
    ) {
      await pause(pauseMs).ended;
      const found = await Promise.race([this.#turns.next(untilMs).then(lookAgain), over]);
      if (!found) return undefined;
      const isOver = isAwaited(found);
      this.#turns.record(isOver);
      if (isOver) return found;
    }
    return undefined;
  }
}

/**
 * Look-ups a second of an instance: those that find nothing make them fewer, those that end a wait make them
 * more.
 */
const MIN_RATE = 200;
const MAX_RATE = 8_000;
const RATE_STEP = 32;
const RATE_DECAY = 1 / 32;
/** Maximum number of look-ups that start in one turn of the event loop. */
const MAX_BURST = 32;

/**
 * Paces the look-ups of the checks that wait. A thousand of them would otherwise occupy this process, the
 * store and the machine, and delay the answers for which they wait. The rate settles where a good part of the
 * look-ups finds an answer.
 */
class LookUpTurns {
  /** The checks that wait for their turn, the oldest first, and the time until which they do. */
  readonly #waiting = new Map<() => void, number>();
  #rate = MIN_RATE;
  #allowance = MAX_BURST;
  #countedAtMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  next(untilMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(resolve, untilMs);
      if (!this.#timer) this.#give();
    });
  }

  record(isOver: boolean): void {
    this.#rate = isOver
      ? Math.min(this.#rate + RATE_STEP, MAX_RATE)
      : Math.max(this.#rate * (1 - RATE_DECAY), MIN_RATE);
  }

  #give(): void {
    this.#timer = undefined;
    const nowMs = performance.now();
    this.#allowance = Math.min(
      this.#allowance + ((nowMs - this.#countedAtMs) * this.#rate) / 1_000,
      MAX_BURST,
    );
    this.#countedAtMs = nowMs;
    for (const [start, untilMs] of this.#waiting) {
      if (this.#allowance < 1) break;
      this.#waiting.delete(start);
      if (nowMs >= untilMs) continue;
      this.#allowance -= 1;
      start();
    }
    if (this.#waiting.size > 0)
      this.#timer = setTimeout(() => this.#give(), ((1 - this.#allowance) / this.#rate) * 1_000).unref();
  }
}

function isBusy(verdict: Verdict<unknown>): boolean {
  return verdict.kind === 'unavailable' && verdict.reason === 'busy';
}

/** A session whose lease is another one by now, or is not known, counts as missing. */
function withoutLease<User>(
  found: LookUp<User> | undefined,
): Exclude<LookUp<User>, { readonly kind: 'leased' }> {
  return !found || found.kind === 'leased' ? UNANSWERED : found;
}

/** Resolves with the first usable verdict, of this instance's call or of the shared cache, if any. */
function firstUsable<User>(
  own: Promise<Verdict<User>>,
  shared: Promise<Verdict<User> | undefined>,
): Promise<Verdict<User> | undefined> {
  return new Promise((resolve) => {
    void shared.then((verdict) => verdict && resolve(verdict));
    void own.then(async (verdict) => resolve(verdict.kind === 'unavailable' ? await shared : verdict));
  });
}

function pause(ms: number): { readonly ended: Promise<undefined>; readonly timer: NodeJS.Timeout } {
  let timer!: NodeJS.Timeout;
  const ended = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms), undefined).unref();
  });
  return { ended, timer };
}
