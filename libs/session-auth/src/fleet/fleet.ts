import type { SessionIdentity, SessionKeys, TokenKey } from '../contract/session-identity.js';
import type { Verdict } from '../contract/outcome.js';
import { shortenedBy, type Flight } from '../verifier/cache-entry.js';
import { ageMs } from '../verifier/clock-steps.js';
import { LeaseFollowers } from './lease-followers.js';
import { Leases } from './leases.js';
import { SessionSeal } from './session-seal.js';
import { SharedCache, type LookUp } from './shared-cache.js';
import { SharedRevocations } from './shared-revocations.js';
import type {
  ServiceCall,
  SharedTier,
  SharedTierReports,
  SharedTierSettings,
} from '../verifier/shared-tier.js';
import { StoreAccess } from './store-access.js';

/** A check that may call the service. */
interface PendingCheck<User> {
  readonly service: ServiceCall<User>;
  readonly flight: Flight;
  readonly startedAtMs: number;
  /** Id of the lease that it requested. */
  readonly lease?: string;
}

/** When a call to the service was sent. */
interface SentCall {
  readonly atMs: number;
  /** The same by the wall clock. */
  readonly atWallMs: number;
  /** Time of the store's clock before the call. */
  readonly sinceMs: number | undefined;
}

/** The shared tier of an application with a store. */
export class Fleet<User> implements SharedTier<User> {
  readonly #settings: SharedTierSettings;
  readonly #cache: SharedCache<User>;
  readonly #leases: Leases;
  readonly #followers = new LeaseFollowers<User>();
  /** Revocations, in the store and on the bus. */
  readonly revocations: SharedRevocations;

  constructor(
    settings: SharedTierSettings,
    readUser: (json: object) => User | undefined,
    reports: SharedTierReports,
  ) {
    const { store, ttlMs, secrets, scope } = settings;
    const [first, ...others] = secrets;
    const sealOf = (secret: string): SessionSeal => new SessionSeal(secret, scope);
    const seals = [sealOf(first), ...others.map(sealOf)] as const;
    const access = new StoreAccess(settings.timeoutMs, () => reports.failed());
    const isRevokedHere = (user: User, confirmedAtMs: number, tokenKey: TokenKey): boolean =>
      this.revocations.isRevoked(user, confirmedAtMs, tokenKey);
    const clockDiffers = (): void => reports.clockDiffers();
    this.#settings = settings;
    this.#cache = new SharedCache({ store, access, seals, readUser, ttlMs, isRevokedHere, clockDiffers });
    this.#leases = new Leases(store, access, settings);
    const parts = { store, access, seals, cache: this.#cache, reports };
    this.revocations = new SharedRevocations(parts, settings.tombstoneMs);
  }

  /** Checks a session by the shared cache, or else by the service. Never rejects. */
  async check(
    session: SessionIdentity,
    keys: SessionKeys,
    service: ServiceCall<User>,
    flight: Flight,
  ): Promise<Verdict<User>> {
    const startedAtMs = performance.now();
    const lease = this.#leases.create();
    const found = await this.#cache.find(session, keys, Infinity, lease);
    if (found.kind !== 'leased')
      return this.#settle(found, keys, { service, flight, startedAtMs, lease: lease.id });
    return this.#followers.follow(found.lease, {
      lookAgain: () => this.#cache.findAgain(session, keys),
      settle: (later) => this.#settle(later, keys, { service, flight, startedAtMs }),
      patienceMs: service.patienceMs,
      timeoutMs: service.timeoutMs,
      startedAtMs,
    });
  }

  /**
   * Refreshes a cached session. One instance holds the lock and calls the service; the others reuse its
   * answer. Never rejects.
   */
  async refresh(
    session: SessionIdentity,
    keys: SessionKeys,
    service: ServiceCall<User>,
    flight: Flight,
  ): Promise<Verdict<User>> {
    const { ttlMs, refreshAheadMs, refreshPauseMs } = this.#settings;
    const startedAtMs = performance.now();
    const found = await this.#cache.find(session, keys, ttlMs - refreshAheadMs);
    if (found.kind === 'found' || found.kind === 'revoked')
      return this.#settle(found, keys, { service, flight, startedAtMs });
    const isOurs = await this.#cache.lock(keys, 'refresh', this.#leases.createLock(refreshPauseMs));
    return isOurs
      ? this.#settle(found, keys, { service, flight, startedAtMs })
      : this.check(session, keys, service, flight);
  }

  async close(): Promise<void> {
    this.#leases.close();
    await this.revocations.close();
  }

  /** Returns the session that a look-up found, or calls the service and stores its answer. */
  async #settle(found: LookUp<User>, keys: SessionKeys, pending: PendingCheck<User>): Promise<Verdict<User>> {
    if (found.kind === 'found') return found.verdict;
    if (found.kind === 'revoked') this.revocations.foundTombstone(keys.tokenKey);
    const lease = found.kind === 'missing' && found.isHolder ? pending.lease : undefined;
    if (lease !== undefined) this.#leases.hold(lease);
    const sent = {
      atMs: performance.now(),
      atWallMs: Date.now(),
      sinceMs: found.kind === 'missing' ? found.sinceMs : undefined,
    };
    const verdict = await pending.service.ask(sent.atMs - pending.startedAtMs);
    const isStored = pending.flight.isCurrent() && this.#store(keys, verdict, sent);
    if (lease !== undefined) {
      this.#leases.end(lease);
      if (!isStored) void this.#cache.releaseLease(keys, lease);
    }
    return verdict;
  }

  #store(keys: SessionKeys, verdict: Verdict<User>, { atMs, atWallMs, sinceMs }: SentCall): boolean {
    if (verdict.kind !== 'authenticated' || !verdict.json || sinceMs === undefined) return false;
    const usedMs = Math.ceil(ageMs(atMs, atWallMs)) + shortenedBy(verdict.cacheForMs, this.#settings.ttlMs);
    if (verdict.cacheForMs === 0) void this.#cache.delete(keys.tokenKey);
    if (usedMs >= this.#settings.ttlMs || this.revocations.isRevoked(verdict.user, atMs, keys.tokenKey))
      return false;
    void this.#cache.set(keys, verdict.json, usedMs, sinceMs).then((isSet) => {
      if (!isSet) this.revocations.foundTombstone(keys.tokenKey);
    });
    return true;
  }
}
