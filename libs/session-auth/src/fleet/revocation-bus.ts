import { randomBytes } from 'node:crypto';
import type { SessionStore, StoreEntry } from '../contract/session-store.js';
import { TtlLruMap } from '../verifier/ttl-lru-map.js';
import {
  readRevocation,
  writeRevocation,
  type Revocation,
  type WrittenRevocation,
} from '../verifier/revocation.js';
import { newIv, objectIn, SessionSeal } from './session-seal.js';
import type { StoreAccess } from './store-access.js';

/** Callbacks of the bus. */
interface BusSubscriber {
  /** Receives a revocation of another instance. */
  receive(revocation: Revocation): void;
  /** Called when the subscription starts. Earlier messages may have been lost. */
  subscribed(): void;
  /** Called when messages stop arriving. */
  interrupted(reason: string): void;
  /**
   * Called when the wall clock of a sender differs from that of this host by more than
   * {@link CLOCK_TOLERANCE_MS}.
   */
  clockDiffers(): void;
  /** Called for each message that no secret opens. */
  unreadable(): void;
}

interface Envelope extends WrittenRevocation {
  readonly id: string;
  /** Identifies the sender. */
  readonly from: string;
  /** Wall clock of the sender. */
  readonly at: number;
  /** Time of the store's clock when the message was sent. */
  readonly storeMs: number;
}

/** Maximum size of a message. User names have up to 1024 characters, of up to 6 bytes each in JSON. */
const MAX_BYTES = 8_192;
const MAX_SEEN = 50_000;
const ID_BYTES = 12;
/** Milliseconds beyond which a difference of wall clocks is reported. */
export const CLOCK_TOLERANCE_MS = 60_000;
/** Milliseconds within which the copy of a message that another secret seals arrives. */
const COPY_MS = 1_000;
const MAX_UNOPENED = 1_000;
/**
 * Entries that are never set: a look-up returns the time of the store, of the same node for all instances.
 * Their slots in a Cluster are half of all slots apart, with any prefix, so that the second has another node.
 */
const CLOCKS = ['clock', 'clobs'];
/** Milliseconds after which the clock of the store is read again if it is unknown. */
const CLOCK_PAUSE_MS = 1_000;

/**
 * Publishes revocations to the other instances, and receives theirs. Messages are sealed. Ignores its own,
 * repeated ones, and those that are older than this bus or than their tombstone, by the clock of the store:
 * they were recorded, and are sent again.
 */
export class RevocationBus {
  readonly #store: SessionStore;
  readonly #access: StoreAccess;
  readonly #seals: readonly SessionSeal[];
  readonly #lifetimeMs: number;
  readonly #id = newId();
  readonly #startedAtMs = performance.now();
  readonly #seen: TtlLruMap<string, true>;
  /** Messages that no secret opened, by their IV, until a copy is opened. */
  readonly #unopened = new Map<string, NodeJS.Timeout>();
  #isClosed = false;
  #clockTimer: NodeJS.Timeout | undefined;
  /** Time of the store's clock at time 0 of the monotonic clock, at the earliest. */
  #storeOffsetMs = NaN;
  /**
   * The last reading of the store's clock: its time, at the latest, when it was asked, by both clocks of this
   * host.
   */
  #reading = { storeMs: NaN, askedMs: -Infinity, askedWallMs: 0 };

  /** `lifetimeMs`: how long a tombstone is kept. */
  constructor(store: SessionStore, access: StoreAccess, seals: readonly SessionSeal[], lifetimeMs: number) {
    this.#store = store;
    this.#access = access;
    this.#seals = seals;
    this.#lifetimeMs = lifetimeMs;
    this.#seen = new TtlLruMap({ maxEntries: MAX_SEEN, ttlMs: lifetimeMs }, () => performance.now());
  }

  /** Returns what publishes a revocation, once for each call. The other instances receive it once. */
  publisherOf(revocation: Revocation): () => Promise<void> {
    const id = newId();
    return async () => {
      const storeMs = this.#latestStoreMs;
      const envelope: Envelope = {
        ...writeRevocation(revocation),
        id,
        from: this.#id,
        at: Date.now(),
        storeMs,
      };
      // Sealed with every secret: during a rotation, some instances have only one of them. The copies share
      // their IV.
      const iv = newIv();
      await Promise.all(
        this.#seals.map((seal) => this.#store.publish(seal.sealMessage(JSON.stringify(envelope), iv))),
      );
    };
  }

  /** Subscribes to messages. Returns a function that unsubscribes. */
  subscribe(subscriber: BusSubscriber): () => Promise<void> {
    const unsubscribe = this.#store.subscribe({
      message: (bytes) => this.#message(bytes, subscriber),
      subscribed: () => {
        void this.#learnClock();
        subscriber.subscribed();
      },
      interrupted: (reason) => subscriber.interrupted(reason),
    });
    return async () => {
      this.#isClosed = true;
      clearTimeout(this.#clockTimer);
      for (const timer of this.#unopened.values()) clearTimeout(timer);
      this.#unopened.clear();
      await unsubscribe();
    };
  }

  #message(bytes: Uint8Array, subscriber: BusSubscriber): void {
    const envelope = bytes.length > MAX_BYTES ? undefined : this.#open(bytes, subscriber);
    if (!envelope || envelope.from === this.#id) return;
    const isRepeated = this.#seen.get(envelope.id) === true;
    // A repeated one has a later time: it must be known for as long.
    this.#seen.set(envelope.id, true);
    if (isRepeated) return;
    if (Math.abs(Date.now() - envelope.at) > CLOCK_TOLERANCE_MS) subscriber.clockDiffers();
    const revocation = readRevocation(envelope);
    if (!revocation) return;
    if (this.#isTimely(envelope)) subscriber.receive(revocation);
    else void this.#receiveLater(envelope, () => subscriber.receive(revocation));
  }

  /** The clock of the store may have changed since it was read. In doubt, the revocation counts. */
  async #receiveLater(envelope: Envelope, receive: () => void): Promise<void> {
    if (!(await this.readClock()) || this.#isTimely(envelope)) receive();
  }

  #isTimely({ storeMs }: Envelope): boolean {
    const ageMs = this.#storeNowMs - storeMs;
    // Negated, so that a message counts as long as the clock of the store is unknown.
    return !(ageMs > Math.min(this.#lifetimeMs, performance.now() - this.#startedAtMs));
  }

  get #storeNowMs(): number {
    return this.#storeOffsetMs + performance.now();
  }

  /**
   * At the latest, because a message that seems older than it is could be ignored. The monotonic clock of a
   * suspended machine stands still.
   */
  get #latestStoreMs(): number {
    const { storeMs, askedMs, askedWallMs } = this.#reading;
    return storeMs + Math.max(performance.now() - askedMs, Date.now() - askedWallMs);
  }

  /**
   * Whether the clock of the store has been asked since a time. It may have stepped: a message with an old
   * time of it could be ignored.
   */
  knowsClockSince(timeMs: number): boolean {
    return this.#reading.askedMs >= timeMs;
  }

  /** Reads the clock until the store answers: as long as it is unknown, recorded messages count. */
  async #learnClock(): Promise<void> {
    clearTimeout(this.#clockTimer);
    if ((await this.readClock()) || this.#isClosed) return;
    this.#clockTimer = setTimeout(() => void this.#learnClock(), CLOCK_PAUSE_MS).unref();
  }

  /** Reads the clock of the store. Returns whether it answers in time. */
  async readClock(): Promise<boolean> {
    const [askedMs, askedWallMs] = [performance.now(), Date.now()];
    const answers = CLOCKS.map((entry) =>
      this.#access.insist(async () => timeIn(await this.#store.get(entry))),
    );
    for (const answer of answers) {
      const read = await answer;
      if (!read) continue;
      this.#storeOffsetMs = read.storeMs - read.readMs;
      // The store's clock counts whole milliseconds.
      this.#reading = { storeMs: read.storeMs + 1, askedMs, askedWallMs };
      return true;
    }
    return false;
  }

  #open(bytes: Uint8Array, subscriber: BusSubscriber): Envelope | undefined {
    const iv = SessionSeal.ivOf(bytes);
    if (iv === undefined) return undefined;
    for (const seal of this.#seals) {
      const text = seal.openMessage(bytes);
      if (text === undefined) continue;
      clearTimeout(this.#unopened.get(iv));
      this.#unopened.delete(iv);
      this.#seen.set(iv, true);
      return envelopeIn(text);
    }
    if (this.#seen.get(iv) || this.#unopened.has(iv) || this.#unopened.size >= MAX_UNOPENED) return undefined;
    const report = (): void => {
      this.#unopened.delete(iv);
      subscriber.unreadable();
    };
    this.#unopened.set(iv, setTimeout(report, COPY_MS).unref());
    return undefined;
  }
}

/** The time of the store in a look-up, and when it was received. */
function timeIn({ storeTimeMs }: StoreEntry): { storeMs: number; readMs: number } {
  return { storeMs: storeTimeMs, readMs: performance.now() };
}

function newId(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}

/** Checks the members, because another version may seal a different form. */
function envelopeIn(text: string): Envelope | undefined {
  const { id, from, at, storeMs } = (objectIn(text) ?? {}) as { readonly [Name in keyof Envelope]?: unknown };
  const isEnvelope =
    typeof id === 'string' &&
    typeof from === 'string' &&
    typeof at === 'number' &&
    typeof storeMs === 'number';
  return isEnvelope ? (objectIn(text) as Envelope) : undefined;
}
