import type { SessionIdentity } from '../../contract/session-identity.js';
import type { SessionStore } from '../../contract/session-store.js';
import type { Accepted, Verdict } from '../../contract/verdict.js';
import type { SessionKeys } from '../session-key.js';
import { Announcements, type Announcement } from './announcements.js';
import { PendingEnds } from './pending-ends.js';
import { SessionSeal } from './session-seal.js';
import { SharedMemory, type SharedMemorySettings } from './shared-memory.js';
import { StoreAccess } from './store-access.js';

/** How a store is used. */
export interface SharedTierSettings extends SharedMemorySettings {
  readonly store: SessionStore;
  readonly timeoutMs: number;
  /** The first seals, all open. */
  readonly secrets: readonly [string, ...string[]];
  /** Which session service the sessions are of. */
  readonly scope: string;
  /** How long before it lapses a session is renewed; 0: never. */
  readonly refreshAheadMs: number;
  /** How long a failed renewal is left alone. */
  readonly refreshPauseMs: number;
}

/** What the tier needs to tell this instance. */
export interface SharedTierListener {
  /** A session was signed out on some instance. */
  ended(token: string): void;
  /** A session is over, as some instance was told by the service. */
  refused(token: string): void;
  /** A session is to be asked about again. */
  forgotten(token: string): void;
  /** Announcements may have been lost: what is remembered may have been ended since. */
  lost(): void;
}

/** Asks the service, with so many milliseconds of the check's time spent. */
type AskService<User> = (spentMs: number) => Promise<Verdict<User>>;

/** What the instances of an application share: a memory, and the news of sessions that ended. */
export class SharedTier<User> {
  readonly #store: SessionStore;
  readonly #access: StoreAccess;
  readonly #announcements: Announcements;
  readonly #pendingEnds: PendingEnds;
  readonly #memory: SharedMemory<User>;
  readonly #settings: SharedTierSettings;
  #listener: SharedTierListener | undefined;
  #stop: (() => Promise<void>) | undefined;

  constructor(settings: SharedTierSettings, readUser: (json: object) => User | undefined, failed: () => void) {
    const [first, ...others] = settings.secrets;
    const sealOf = (secret: string): SessionSeal => new SessionSeal(secret, settings.scope);
    this.#settings = settings;
    this.#store = settings.store;
    const seals = [sealOf(first), ...others.map(sealOf)] as const;
    this.#announcements = new Announcements(seals);
    this.#access = new StoreAccess(settings.timeoutMs, failed);
    this.#pendingEnds = new PendingEnds(this.#store, this.#access);
    const parts = { store: this.#store, access: this.#access, pendingEnds: this.#pendingEnds };
    this.#memory = new SharedMemory(parts, seals, readUser, settings);
  }

  /** Decides on a session: by the shared memory if it knows it, else by the service. Never rejects. */
  async check(session: SessionIdentity, keys: SessionKeys, ask: AskService<User>): Promise<Verdict<User>> {
    const start = performance.now();
    const found = await this.#find(session, keys, Infinity);
    return found ?? ask(performance.now() - start);
  }

  /** Renews a session that is still good: of all instances one asks the service, and the others take what it said, then or later. */
  async renew(session: SessionIdentity, keys: SessionKeys, ask: AskService<User>): Promise<Verdict<User>> {
    const { ttlMs, refreshAheadMs, refreshPauseMs } = this.#settings;
    const renewed = await this.#find(session, keys, ttlMs - refreshAheadMs);
    if (renewed) return renewed;
    if (await this.#memory.claim(keys, 'refresh', refreshPauseMs)) return ask(0);
    return this.check(session, keys, ask);
  }

  /** Takes in what the service said just now, asked `tookMs` ago; of a refusal, {@link refused} is told. */
  async learn(keys: SessionKeys, verdict: Verdict<User>, tookMs: number): Promise<void> {
    const ageMs = Math.ceil(tookMs);
    const json = verdict.kind === 'accepted' && ageMs < this.#settings.ttlMs ? verdict.json : undefined;
    if (json && !(await this.#memory.keep(keys, json, ageMs))) this.#listener?.ended(keys.token);
    if (verdict.kind === 'unavailable' || ageMs >= this.#settings.ttlMs) await this.#memory.release(keys.token);
  }

  /** The service refuses a session. If it was good before, on this instance or on another, that is announced. */
  async refused(announcement: Announcement, wasGoodHere: boolean): Promise<void> {
    const wasGood = wasGoodHere || (await this.#memory.keeps(announcement.token));
    await this.#memory.drop(announcement.token);
    if (wasGood) await this.announce(announcement);
  }

  /** Marks a session as ended, before the service is asked to end it. */
  end(token: string): Promise<void> {
    return this.#memory.end(token);
  }

  /** A sign-in gave this token. */
  pardon(token: string): Promise<void> {
    return this.#memory.pardon(token);
  }

  /** Drops a session everywhere. */
  async forget(token: string): Promise<void> {
    await this.#memory.drop(token);
    await this.announce({ kind: 'forgotten', token });
  }

  /** Tells all instances. */
  async announce(announcement: Announcement): Promise<void> {
    const messages = this.#announcements.seal(announcement);
    await Promise.all(messages.map((message) => this.#access.try(() => this.#store.announce(message).then(() => true))));
  }

  /** Hears what the instances tell, from now on. */
  listen(listener: SharedTierListener): void {
    const heard = (message: Uint8Array): void => {
      const announcement = this.#announcements.open(message);
      if (announcement) listener[announcement.kind](announcement.token);
    };
    const reconnected = (): void => {
      listener.lost();
      void this.#pendingEnds.flush();
    };
    this.#listener = listener;
    this.#stop = this.#store.listen({ heard, reconnected });
  }

  /** Hears nothing any more. */
  async close(): Promise<void> {
    this.#pendingEnds.close();
    await this.#stop?.();
  }

  async #find(session: SessionIdentity, keys: SessionKeys, maxAgeMs: number): Promise<Accepted<User> | undefined> {
    const shared = await this.#memory.find(session, keys, maxAgeMs);
    if (shared !== 'ended') return shared;
    this.#listener?.ended(keys.token);
    return undefined;
  }
}
