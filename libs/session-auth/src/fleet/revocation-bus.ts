import { randomBytes } from 'node:crypto';
import { isLate } from '../contract/late-results.js';
import type { TokenKey } from '../contract/session-identity.js';
import { parseObject } from '../contract/wire.js';
import type { Revocation } from '../verifier/revocations.js';
import { TtlLruMap } from '../verifier/ttl-lru-map.js';
import type { SharedTierReports } from '../verifier/shared-tier.js';
import { CLOCK_TOLERANCE_MS } from './host-clock.js';
import { newIv, SessionSeal } from './session-seal.js';
import type { StoreAccess } from './store-access.js';

interface Envelope {
  readonly id: string;
  readonly from: string;
  readonly at: number;
  readonly storeMs: number;
}

/** A time of the store's clock, and when it was asked and read by the clocks of this host. */
interface Reading {
  readonly storeMs: number;
  readonly askedMs: number;
  readonly askedWallMs: number;
  readonly readMs: number;
}

/** Maximum size of a message. User names have up to 1024 characters, of up to 6 bytes each in JSON. */
const MAX_BYTES = 8_192;
const MAX_SEEN = 50_000;
const ID_BYTES = 12;
/** Milliseconds within which the copy of a message that another secret seals arrives. */
const COPY_MS = 1_000;
const MAX_UNOPENED = 1_000;
/**
 * Entries that are never set: a look-up returns the time of the store. In a Cluster, all instances read the
 * clock of the same node; the slot of the second entry is half of all slots apart, with any prefix, so that
 * it is on another node.
 */
const CLOCKS = ['clock', 'clobs'];
const CLOCK_PAUSE_MS = 1_000;
/** Milliseconds for which a shutdown waits for the end of the subscription. */
const MAX_UNSUBSCRIBE_MS = 2_000;

/**
 * Publishes revocations to the other instances, and receives theirs. Messages are sealed. Ignores its own,
 * repeated ones, and those that are older than this bus or than their tombstone, by the clock of the store:
 * they were recorded, and are sent again.
 */
export class RevocationBus {
  readonly #access: StoreAccess;
  readonly #lifetimeMs: number;
  readonly #reports: SharedTierReports;
  readonly #id = newId();
  readonly #startedAtMs = performance.now();
  readonly #seen: TtlLruMap<string, true>;
  /** Messages that no secret opened, by their IV, until a copy is opened. */
  readonly #unopened = new Map<string, NodeJS.Timeout>();
  #isClosed = false;
  #clockTimer: NodeJS.Timeout | undefined;
  #reading: Reading = { storeMs: NaN, askedMs: -Infinity, askedWallMs: 0, readMs: 0 };

  /** `lifetimeMs`: how long a tombstone is kept. */
  constructor(access: StoreAccess, lifetimeMs: number, reports: SharedTierReports) {
    this.#access = access;
    this.#lifetimeMs = lifetimeMs;
    this.#reports = reports;
    this.#seen = new TtlLruMap({ maxEntries: MAX_SEEN, ttlMs: lifetimeMs });
  }

  async publish({ revocation, id }: { readonly revocation: Revocation; readonly id: string }): Promise<void> {
    const { store, seals } = this.#access;
    const text = writeMessage(revocation, {
      id,
      from: this.#id,
      at: Date.now(),
      storeMs: this.#latestStoreMs,
    });
    // Sealed with every secret: during a rotation, some instances have only one of them. The copies share
    // their IV.
    const iv = newIv();
    await Promise.all(seals.map((seal) => store.publish(seal.sealMessage(text, iv))));
  }

  /**
   * Subscribes to messages. `subscribed` is called when the subscription starts: earlier messages may have
   * been lost. Returns a function that unsubscribes.
   */
  subscribe(receive: (revocation: Revocation) => void, subscribed: () => void): () => Promise<void> {
    const interrupted = (reason: string): void => this.#reports.busStateChanged('interrupted', reason);
    const failed = (): void => interrupted('subscribe() of cache.store failed');
    let unsubscribe: unknown;
    try {
      unsubscribe = this.#access.store.subscribe({
        message: (bytes) => this.#message(bytes, receive),
        subscribed: () => {
          void this.#learnClock();
          this.#reports.busStateChanged('connected');
          subscribed();
        },
        interrupted,
      });
      isLate(unsubscribe, failed);
    } catch {
      failed();
    }
    return async () => {
      this.#isClosed = true;
      clearTimeout(this.#clockTimer);
      for (const timer of this.#unopened.values()) clearTimeout(timer);
      this.#unopened.clear();
      await settled(async () => (await (unsubscribe as Promise<Unsubscribe> | Unsubscribe | undefined))?.());
    };
  }

  /**
   * Whether the clock of the store has been asked since a time. It may have stepped: a message with an old
   * time of it could be ignored.
   */
  knowsClockSince(timeMs: number): boolean {
    return this.#reading.askedMs >= timeMs;
  }

  /** Reads the clock of the store. Returns whether it answers in time. A late answer counts later. */
  async readClock(): Promise<boolean> {
    const [askedMs, askedWallMs] = [performance.now(), Date.now()];
    const read = async (entry: string): Promise<true> => {
      const { storeTimeMs } = await this.#access.store.get(entry);
      const isLatest = askedMs > this.#reading.askedMs;
      // Of two answers that were asked at the same time, that of the first entry counts.
      if (isLatest || (askedMs === this.#reading.askedMs && entry === CLOCKS[0]))
        this.#reading = { storeMs: storeTimeMs, askedMs, askedWallMs, readMs: performance.now() };
      return true;
    };
    const answers = CLOCKS.map((entry) => this.#access.insist(() => read(entry)));
    for (const answer of answers) if (await answer) return true;
    return false;
  }

  #message(bytes: Uint8Array, receive: (revocation: Revocation) => void): void {
    const text = bytes.length > MAX_BYTES ? undefined : this.#open(bytes);
    const message = text === undefined ? undefined : readMessage(text);
    if (!message || message.from === this.#id) return;
    const isRepeated = this.#seen.get(message.id) === true;
    // A repeated one has a later time: it must be known for as long.
    this.#seen.set(message.id, true);
    if (isRepeated) return;
    if (Math.abs(Date.now() - message.at) > CLOCK_TOLERANCE_MS) this.#reports.clockDiffers();
    const { revocation } = message;
    if (!revocation) return;
    if (this.#isTimely(message)) receive(revocation);
    else void this.#receiveLater(message, () => receive(revocation));
  }

  /** The clock of the store may have changed since it was read. In doubt, the revocation counts. */
  async #receiveLater(message: Envelope, receive: () => void): Promise<void> {
    if (!(await this.readClock()) || this.#isTimely(message)) receive();
  }

  #isTimely({ storeMs }: Envelope): boolean {
    const reading = this.#reading;
    // The least age that is possible: the store may have read its clock before `readMs`.
    const ageMs = reading.storeMs + performance.now() - reading.readMs - storeMs;
    // Negated, so that a message counts as long as the clock of the store is unknown.
    return !(ageMs > Math.min(this.#lifetimeMs, performance.now() - this.#startedAtMs));
  }

  /**
   * The latest time that the clock of the store can have now: a message with an earlier one would seem older
   * than it is, and could be ignored. Both clocks count, because the monotonic clock of a suspended machine
   * stands still.
   */
  get #latestStoreMs(): number {
    const { storeMs, askedMs, askedWallMs } = this.#reading;
    // The store's clock counts whole milliseconds.
    return storeMs + 1 + Math.max(performance.now() - askedMs, Date.now() - askedWallMs);
  }

  /** Reads the clock until the store answers: as long as it is unknown, recorded messages count. */
  async #learnClock(): Promise<void> {
    clearTimeout(this.#clockTimer);
    if ((await this.readClock()) || this.#isClosed) return;
    this.#clockTimer = setTimeout(() => void this.#learnClock(), CLOCK_PAUSE_MS).unref();
  }

  #open(bytes: Uint8Array): string | undefined {
    const iv = SessionSeal.ivOf(bytes);
    if (iv === undefined) return undefined;
    for (const seal of this.#access.seals) {
      const text = seal.openMessage(bytes);
      if (text === undefined) continue;
      clearTimeout(this.#unopened.get(iv));
      this.#unopened.delete(iv);
      this.#seen.set(iv, true);
      return text;
    }
    if (this.#seen.get(iv) || this.#unopened.has(iv) || this.#unopened.size >= MAX_UNOPENED) return undefined;
    const report = (): void => {
      this.#unopened.delete(iv);
      this.#reports.unreadable();
    };
    this.#unopened.set(iv, setTimeout(report, COPY_MS).unref());
    return undefined;
  }
}

type Unsubscribe = () => Promise<void>;

/** Resolves when code of the store has settled, or in time. Its timer keeps the process alive until then. */
function settled(call: () => Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_UNSUBSCRIBE_MS);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    call().then(end, end);
  });
}

export function newId(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}

const TOKEN_KINDS: ReadonlySet<unknown> = new Set(['signedOut', 'refused', 'evicted']);

function writeMessage(revocation: Revocation, envelope: Envelope): string {
  const written =
    'tokenKey' in revocation
      ? { kind: revocation.kind, token: Buffer.from(revocation.tokenKey, 'latin1').toString('base64') }
      : revocation;
  return JSON.stringify({ ...written, ...envelope });
}

/**
 * Checks the members, because another version may have written the message. The revocation is absent if this
 * version does not support its kind.
 */
function readMessage(text: string): (Envelope & { readonly revocation: Revocation | undefined }) | undefined {
  const { id, from, at, storeMs, ...written } = parseObject(text) ?? {};
  return typeof id === 'string' &&
    typeof from === 'string' &&
    typeof at === 'number' &&
    typeof storeMs === 'number'
    ? { id, from, at, storeMs, revocation: revocationOf(written) }
    : undefined;
}

function revocationOf({ kind, token, username }: Record<string, unknown>): Revocation | undefined {
  if (kind === 'allRevoked') return { kind };
  if (kind === 'userRevoked') return typeof username === 'string' ? { kind, username } : undefined;
  if (typeof token !== 'string' || !TOKEN_KINDS.has(kind)) return undefined;
  return { kind: kind as 'signedOut', tokenKey: Buffer.from(token, 'base64').toString('latin1') as TokenKey };
}
