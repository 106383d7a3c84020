import type { SessionIdentity, SessionKeys, TokenKey } from '../contract/session-identity.js';
import type { Verdict } from '../contract/outcome.js';
import { shortenedBy } from '../verifier/session-cache.js';
import { ageMs } from '../verifier/clock-steps.js';
import type { Revocation } from '../verifier/revocations.js';
import type {
  RevocationListener,
  ServiceCall,
  SharedTier,
  SharedTierReports,
  SharedTierSettings,
} from '../verifier/shared-tier.js';
import type { Flight } from '../verifier/single-flight.js';
import { LeaseFollowers, Leases } from './leases.js';
import { Outbox } from './outbox.js';
import { RevocationBus } from './revocation-bus.js';
import { SharedCache, type LookUp } from './shared-cache.js';
import { StoreAccess } from './store-access.js';

interface PendingCheck<User> {
  readonly keys: SessionKeys;
  readonly service: ServiceCall<User>;
  readonly flight: Flight;
  readonly startedAtMs: number;
}

interface SentCall {
  readonly atMs: number;
  readonly atWallMs: number;
  /** Time of the store's clock before the call. */
  readonly sinceMs: number | undefined;
}

export class Fleet<User> implements SharedTier<User> {
  readonly #settings: SharedTierSettings;
  readonly #access: StoreAccess;
  readonly #cache: SharedCache<User>;
  readonly #leases: Leases;
  readonly #followers = new LeaseFollowers<User>();
  readonly #bus: RevocationBus;
  readonly #outbox: Outbox;
  #listener: RevocationListener | undefined;
  #unsubscribe: (() => Promise<void>) | undefined;

  constructor(
    settings: SharedTierSettings,
    readUser: (json: object) => User | undefined,
    reports: SharedTierReports,
  ) {
    const { ttlMs, tombstoneMs } = settings;
    const access = new StoreAccess(settings, (isFailed) =>
      isFailed ? reports.failed() : reports.answered(),
    );
    this.#settings = settings;
    this.#access = access;
    this.#cache = new SharedCache({
      access,
      readUser,
      ttlMs,
      isRevokedHere: (...answer) => this.#isRevokedHere(...answer),
      clockDiffers: () => reports.clockDiffers(),
    });
    this.#leases = new Leases(access, settings);
    this.#bus = new RevocationBus(access, tombstoneMs, reports);
    this.#outbox = new Outbox(access, this.#bus, tombstoneMs, (count) => reports.lost(count));
  }

  async check(
    session: SessionIdentity,
    keys: SessionKeys,
    service: ServiceCall<User>,
    flight: Flight,
  ): Promise<Verdict<User>> {
    const pending = { keys, service, flight, startedAtMs: performance.now() };
    const found = await this.#cache.find(session, keys, Infinity, this.#leases.create());
    if (found.kind !== 'leased') return this.#settle(found, pending);
    return this.#followers.follow(found.lease, {
      lookAgain: () => this.#cache.findAgain(session, keys),
      settle: (later) => this.#settle(later, pending),
      patienceMs: service.patienceMs,
      timeoutMs: service.timeoutMs,
      startedAtMs: pending.startedAtMs,
    });
  }

  async refresh(
    session: SessionIdentity,
    keys: SessionKeys,
    service: ServiceCall<User>,
    flight: Flight,
  ): Promise<Verdict<User>> {
    const { ttlMs, refreshAheadMs, refreshPauseMs } = this.#settings;
    const pending = { keys, service, flight, startedAtMs: performance.now() };
    const found = await this.#cache.find(session, keys, ttlMs - refreshAheadMs);
    const isOurs =
      found.kind === 'found' ||
      found.kind === 'revoked' ||
      (await this.#cache.lockRefresh(keys, this.#leases.createLock(refreshPauseMs)));
    return isOurs ? this.#settle(found, pending) : this.check(session, keys, service, flight);
  }

  deliver(revocation: Revocation): Promise<void> {
    return this.#outbox.deliver(revocation);
  }

  async clearTombstone(tokenKey: TokenKey): Promise<void> {
    const { store, seals } = this.#access;
    const wasPending = this.#outbox.cancelSignOut(tokenKey);
    const cleared = Promise.all(
      seals.map((seal) => this.#access.insist(() => store.clearTombstone(seal.nameOf(tokenKey)))),
    );
    // An undelivered sign-out has left the answers from before it in the store and on other instances.
    // Pending at once, because an application that closes now waits for it.
    if (wasPending) await this.#outbox.deliver({ kind: 'evicted', tokenKey }, cleared);
    else await cleared;
  }

  async refused(refusal: Revocation & { readonly tokenKey: TokenKey }, wasCached: boolean): Promise<void> {
    const wasStored = await this.#cache.delete(refusal.tokenKey);
    if (wasCached || wasStored) await this.deliver(refusal);
  }

  subscribe(listener: RevocationListener): void {
    this.#listener = listener;
    this.#unsubscribe ??= this.#bus.subscribe(
      (revocation) => listener.receive(revocation),
      () => {
        listener.messagesLost();
        void this.#outbox.flush();
      },
    );
  }

  async close(): Promise<void> {
    this.#leases.close();
    await Promise.all([this.#unsubscribe?.(), this.#outbox.close()]);
  }

  #isRevokedHere(...answer: Parameters<RevocationListener['isRevokedSince']>): boolean {
    return this.#listener?.isRevokedSince(...answer) === true;
  }

  async #settle(found: LookUp<User>, pending: PendingCheck<User>): Promise<Verdict<User>> {
    if (found.kind === 'found') return found.verdict;
    const { keys, service, flight, startedAtMs } = pending;
    if (found.kind === 'revoked') this.#listener?.foundTombstone(keys.tokenKey);
    const { taken, sinceMs } = found.kind === 'missing' ? found : {};
    if (taken !== undefined) this.#leases.hold(taken);
    const sent = { atMs: performance.now(), atWallMs: Date.now(), sinceMs };
    const verdict = await service.call(sent.atMs - startedAtMs);
    const isStored = flight.isCurrent && this.#store(keys, verdict, sent);
    if (taken !== undefined) {
      this.#leases.end(taken);
      if (!isStored) void this.#cache.releaseLease(keys, taken);
    }
    return verdict;
  }

  #store(keys: SessionKeys, verdict: Verdict<User>, { atMs, atWallMs, sinceMs }: SentCall): boolean {
    if (verdict.kind !== 'authenticated' || !verdict.json || sinceMs === undefined) return false;
    const { ttlMs } = this.#settings;
    const { cacheForMs = ttlMs } = verdict;
    const usedMs = Math.ceil(ageMs(atMs, atWallMs)) + shortenedBy(cacheForMs, ttlMs);
    if (cacheForMs === 0) void this.#cache.delete(keys.tokenKey);
    if (usedMs >= ttlMs || this.#isRevokedHere(verdict.user, atMs, keys.tokenKey)) return false;
    try {
      void this.#cache.set(keys, verdict.json, usedMs, sinceMs).then((isSet) => {
        if (!isSet) this.#listener?.foundTombstone(keys.tokenKey);
      });
      return true;
    } catch {
      return false;
    }
  }
}
