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
import { Outbox } from './outbox.js';
import { RevocationBus } from './revocation-bus.js';
import { SharedCache } from './shared-cache.js';
import { StoreAccess } from './store-access.js';

/** When a call to the service was sent, by each clock. */
interface SentCall {
  readonly atMs: number;
  readonly atWallMs: number;
  /** Time of the store's clock before the call. */
  readonly sinceMs: number;
}

/** The share of one instance in what all have in common: the sessions in the store, and revocations. */
export class Fleet<User> implements SharedTier<User> {
  readonly #settings: SharedTierSettings;
  readonly #access: StoreAccess;
  readonly #cache: SharedCache<User>;
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
    this.#bus = new RevocationBus(access, tombstoneMs, reports);
    this.#outbox = new Outbox(access, this.#bus, tombstoneMs, (count) => reports.lost(count));
  }

  check(
    session: SessionIdentity,
    keys: SessionKeys,
    call: ServiceCall<User>,
    flight: Flight,
  ): Promise<Verdict<User>> {
    return this.#check(session, keys, call, flight, Infinity);
  }

  refresh(
    session: SessionIdentity,
    keys: SessionKeys,
    call: ServiceCall<User>,
    flight: Flight,
  ): Promise<Verdict<User>> {
    const { ttlMs, refreshAheadMs } = this.#settings;
    return this.#check(session, keys, call, flight, ttlMs - refreshAheadMs);
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
    await Promise.all([this.#unsubscribe?.(), this.#outbox.close()]);
  }

  /**
   * Uses an answer in the store that is younger than `maxAgeMs`, or else calls the service, and stores its
   * answer.
   */
  async #check(
    session: SessionIdentity,
    keys: SessionKeys,
    call: ServiceCall<User>,
    flight: Flight,
    maxAgeMs: number,
  ): Promise<Verdict<User>> {
    const startedAtMs = performance.now();
    const found = await this.#cache.find(session, keys, maxAgeMs);
    if (found.kind === 'found') return found.verdict;
    if (found.kind === 'revoked') this.#listener?.foundTombstone(keys.tokenKey);
    const [atMs, atWallMs] = [performance.now(), Date.now()];
    const verdict = await call(atMs - startedAtMs);
    if (found.kind === 'missing' && flight.isCurrent)
      void this.#store(session, keys, verdict, { atMs, atWallMs, sinceMs: found.sinceMs });
    return verdict;
  }

  async #store(
    session: SessionIdentity,
    keys: SessionKeys,
    verdict: Verdict<User>,
    sent: SentCall,
  ): Promise<void> {
    if (verdict.kind !== 'authenticated' || !verdict.json) return;
    const { ttlMs } = this.#settings;
    const { cacheForMs = ttlMs } = verdict;
    const usedMs = Math.ceil(ageMs(sent.atMs, sent.atWallMs)) + shortenedBy(cacheForMs, ttlMs);
    if (cacheForMs === 0) void this.#cache.delete(keys.tokenKey);
    if (usedMs >= ttlMs || this.#isRevokedHere(verdict.user, sent.atMs, keys.tokenKey)) return;
    const isSet = await this.#cache.set(session, keys, verdict.json, {
      ageMs: usedMs,
      sinceMs: sent.sinceMs,
    });
    if (!isSet) this.#listener?.foundTombstone(keys.tokenKey);
  }

  #isRevokedHere(...answer: Parameters<RevocationListener['isRevokedSince']>): boolean {
    return this.#listener?.isRevokedSince(...answer) === true;
  }
}
