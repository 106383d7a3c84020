import {
  SessionStore,
  type StoreEntry,
  type StoreSubscriber,
} from '../../libs/session-auth/src/contract/session-store.js';
import type { Link, Message, Network, Publication } from './network.js';
import { chance } from './random.js';
import type { Host } from './host.js';

/** Minimum time between two arrivals on one connection, so that they are not simultaneous. */
const ORDER_MS = 1e-6;
/** Entries that date messages. */
const CLOCKS = new Set(['clock', 'clobs']);
/** A message whose time differs by this was dated by a clock that stepped meanwhile. The steps are longer. */
const TOLERANCE_MS = 500;

/** Detects in a reply that a key has a tombstone. */
interface TombstoneReply<Value> {
  readonly key: string;
  readonly isShown: (value: Value) => boolean;
}

/** Settings of a {@link StoreLink}. */
interface LinkSettings {
  readonly timeoutMs: number;
  /** Milliseconds until its client is connected. Until then, every command fails at once. */
  readonly connectsMs: number;
}

export class StoreLink extends SessionStore implements Link {
  override readonly secret: readonly string[];
  override readonly timeoutMs: number;
  readonly #host: Host;
  readonly #network: Network;
  /** `hangs`: nothing arrives. `refuses`: every command fails at once. */
  state: 'works' | 'hangs' | 'refuses' = 'works';
  /** Number of commands that failed or timed out. */
  failures = 0;
  /** Number of commands that wait for their reply and have not timed out. */
  outstanding = 0;
  readonly subscriptions: { readonly began: number; readonly confirmed: number }[] = [];
  readonly tombstones: { readonly key: string; readonly executed: number; readonly replied: number }[] = [];
  #subscriber: StoreSubscriber | undefined;
  /** Number of the current connection for messages; 0 while there is none. */
  #connection = 0;
  #connections = 0;
  readonly #connectedAtMs: number;
  /** When a message first arrived that none of its secrets opens. */
  unreadableAtMs = Infinity;
  /** Number of look-ups of sessions. */
  gets = 0;
  #lastArrivalMs = 0;
  #lastReplyMs = 0;
  #lastMessageMs = 0;

  constructor(host: Host, network: Network, settings: LinkSettings) {
    super();
    this.#host = host;
    this.#network = network;
    this.secret = host.secrets;
    this.#connectedAtMs = network.world.nowMs + settings.connectsMs;
    this.timeoutMs = settings.timeoutMs;
    network.links.add(this);
    network.linkOf.set(host, this);
  }

  get(key: string): Promise<StoreEntry> {
    if (!CLOCKS.has(key)) this.gets += 1;
    const { store, liar } = this.#network;
    const execute = (): StoreEntry => {
      const honest = store.get(key);
      return liar?.entry(key, honest) ?? honest;
    };
    return this.#call(() => `get ${short(key)}`, execute, {
      key,
      isShown: ({ kind }) => kind === 'tombstone',
    });
  }

  set(key: string, value: Uint8Array, ttlMs: number): Promise<boolean> {
    const execute = (): boolean => this.#network.store.set(key, value, ttlMs) !== this.#isContrary();
    return this.#call(() => `set ${short(key)} for ${ttlMs}`, execute, { key, isShown: (isSet) => !isSet });
  }

  delete(key: string): Promise<boolean> {
    return this.#call(
      () => `delete ${short(key)}`,
      () => this.#network.store.delete(key) !== this.#isContrary(),
    );
  }

  setTombstone(key: string, ttlMs: number): Promise<void> {
    return this.#call(
      () => `setTombstone ${short(key)} for ${ttlMs}`,
      () => this.#network.store.setTombstone(key, ttlMs),
    );
  }

  clearTombstone(key: string): Promise<void> {
    const execute = (): void => {
      this.#network.store.clearTombstone(key);
      this.#network.onCleared?.(this.#host, key);
    };
    return this.#call(() => `clearTombstone ${short(key)}`, execute);
  }

  setRevocation(key: string, ttlMs: number): Promise<void> {
    return this.#call(
      () => `setRevocation ${short(key)} for ${ttlMs}`,
      () => this.#network.store.setRevocation(key, ttlMs),
    );
  }

  getRevocations(keys: readonly string[]): Promise<readonly (number | undefined)[]> {
    const { store, liar } = this.#network;
    return this.#call(
      () => `getRevocations ${keys.map(short).join(' ')}`,
      () => {
        const revocations = store.getRevocations(keys);
        return liar?.revocations(revocations) ?? revocations;
      },
    );
  }

  publish(message: Uint8Array): Promise<void> {
    const { world, publications } = this.#network;
    const { text, secret } = this.#network.open(message);
    const content = JSON.parse(text) as Message;
    const aheadMs = (content.storeMs ?? NaN) - this.#network.store.nowMs;
    if (aheadMs < -TOLERANCE_MS) this.#network.hasDatedBack = true;
    const first = publications.find(({ message: { id } }) => id === content.id);
    const publication: Publication = {
      host: this.#host,
      bytes: message,
      message: content,
      secret,
      sentAtMs: world.nowMs,
      isDatedAhead: aheadMs > TOLERANCE_MS,
      sent: first?.sent ?? world.nextSequence(),
      received: new Map<Host, number>(),
    };
    publications.push(publication);
    const call = this.#call(
      () => 'publish',
      () => this.#network.broadcast(publication),
    );
    world.trace(() => `  message ${text}`);
    return call;
  }

  subscribe(subscriber: StoreSubscriber): () => Promise<void> {
    this.#subscriber = subscriber;
    this.#connect(this.#network.delayMs());
    return () => {
      this.#subscriber = undefined;
      this.#connection = 0;
      this.#network.links.delete(this);
      return Promise.resolve();
    };
  }

  /** Breaks the connection for messages. The instance notices later, and reconnects later still. */
  interrupt(noticedMs: number, downMs: number): void {
    this.#connection = 0;
    this.#network.world.trace(() => `${this.#host.name} loses messages`);
    const notify = (): void => this.#subscriber?.interrupted('The connection is closed.');
    if (noticedMs < downMs) this.#network.world.after(noticedMs, notify, this.#host);
    this.#connect(downMs);
  }

  /** Closes the link, because the instance has ended. */
  cut(): void {
    this.#subscriber = undefined;
    this.#connection = 0;
    this.#network.links.delete(this);
  }

  get isSubscribed(): boolean {
    return this.#connection > 0;
  }

  carry(bytes: Uint8Array, publication?: Publication, { laterMs = 0, isRepeated = false } = {}): void {
    const { world, health } = this.#network;
    const connection = this.#connection;
    if (connection === 0) return;
    const isOrdered = health.isOrdered && laterMs === 0;
    const atMs = world.nowMs + this.#network.delayMs() + laterMs;
    const arrivesMs = isOrdered ? Math.max(this.#lastMessageMs + ORDER_MS, atMs) : atMs;
    if (isOrdered) this.#lastMessageMs = arrivesMs;
    const arrive = (): void => {
      if (connection !== this.#connection) return;
      world.trace(() => `${this.#host.name} receives ${this.#network.open(bytes).text}`);
      this.#receive(bytes, publication, isRepeated);
    };
    world.after(arrivesMs - world.nowMs, arrive, this.#host);
  }

  #receive(bytes: Uint8Array, publication: Publication | undefined, isRepeated: boolean): void {
    const isReadable = publication?.secret !== undefined && this.secret.includes(publication.secret);
    if (publication && !isReadable)
      this.unreadableAtMs = Math.min(this.unreadableAtMs, this.#network.world.nowMs);
    this.#network.arriving = isReadable ? { host: this.#host, publication, isRepeated } : undefined;
    this.#subscriber?.message(bytes);
    this.#network.arriving = undefined;
    if (publication && !isRepeated && publication.sentAtMs <= this.#network.steppedAtMs)
      this.#network.hasDatedBack = true;
    if (!isReadable || isRepeated || this.#network.hasDatedBack || publication.received.has(this.#host))
      return;
    const { publications } = this.#network;
    const isCopy = publications.some(
      ({ message, received }) => message.id === publication.message.id && received.has(this.#host),
    );
    const { world, handledMs } = this.#network;
    const handled = (): void => {
      // The answer of the store waits for a process whose event loop is blocked.
      const blockedMs = this.#host.blockedUntilMs - world.nowMs;
      if (handledMs > 0 && blockedMs > 0) {
        world.after(blockedMs + handledMs, handled);
        return;
      }
      if (!isCopy) this.#network.onHandled?.(this.#host, publication);
      if (!publication.received.has(this.#host)) publication.received.set(this.#host, world.nextSequence());
    };
    if (handledMs > 0) world.after(handledMs, handled);
    else handled();
  }

  #connect(afterMs: number): void {
    const { world } = this.#network;
    world.after(Math.max(0, this.#connectedAtMs - world.nowMs) + afterMs, () => {
      if (!this.#subscriber || !this.#host.isAlive) return;
      const connection = (this.#connections += 1);
      const began = world.nextSequence();
      this.#connection = connection;
      const replyMs = this.#network.delayMs();
      // Messages published from now on arrive after the confirmation.
      this.#lastMessageMs = world.nowMs + replyMs;
      const confirm = (): void => {
        if (connection !== this.#connection) return;
        world.trace(() => `${this.#host.name} is subscribed`);
        this.#subscriber?.subscribed();
        this.subscriptions.push({ began, confirmed: world.nextSequence() });
      };
      world.after(replyMs, confirm, this.#host);
    });
  }

  /** Sends a command. The store executes it regardless of the fate of the reply or of the instance. */
  #call<Value>(name: () => string, execute: () => Value, tombstone?: TombstoneReply<Value>): Promise<Value> {
    const { world, random, health } = this.#network;
    world.trace(() => `${this.#host.name} sends ${name()}`);
    this.outstanding += 1;
    let isOpen = true;
    const over = (isGood: boolean): void => {
      if (!isOpen) return;
      isOpen = false;
      this.outstanding -= 1;
      if (!isGood) this.failures += 1;
    };
    world.after(this.timeoutMs, () => over(false), this.#host);
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        over(false);
        reject(new Error('Connection is closed.'));
      };
      if (this.state === 'refuses' || world.nowMs < this.#connectedAtMs || chance(random, health.refused)) {
        world.after(random.between(0, 1), fail, this.#host);
        return;
      }
      if (this.state === 'hangs' || chance(random, health.lostRequests)) return;
      const run = (isFirst: boolean): void => {
        world.trace(() => `store executes ${name()} of ${this.#host.name}`);
        const reply = replyTo(execute);
        const executed = world.nextSequence();
        if (!isFirst || chance(random, health.lostReplies)) return;
        const answer = (): void => {
          if (reply.error) {
            fail();
            return;
          }
          const value = reply.value as Value;
          if (isOpen && tombstone?.isShown(value))
            this.tombstones.push({ key: tombstone.key, executed, replied: world.nextSequence() });
          over(true);
          resolve(value);
        };
        world.after(this.#replyAfterMs(), answer, this.#host);
      };
      world.after(this.#arrivesAfterMs(), () => run(true));
      if (chance(random, health.repeated))
        world.after(this.#network.delayMs() * random.between(2, 20), () => run(false));
    });
  }

  #isContrary(): boolean {
    return this.#network.liar?.isContrary() ?? false;
  }

  #arrivesAfterMs(): number {
    const { world } = this.#network;
    const atMs = this.#inOrder(world.nowMs + this.#network.delayMs(), this.#lastArrivalMs);
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, atMs);
    return atMs - world.nowMs;
  }

  #replyAfterMs(): number {
    const { world } = this.#network;
    const atMs = this.#inOrder(world.nowMs + this.#network.delayMs(), this.#lastReplyMs);
    this.#lastReplyMs = Math.max(this.#lastReplyMs, atMs);
    return atMs - world.nowMs;
  }

  /** Returns an arrival time. On an ordered connection, it is after all earlier arrivals. */
  #inOrder(atMs: number, lastMs: number): number {
    return this.#network.health.isOrdered ? Math.max(atMs, lastMs + ORDER_MS) : atMs;
  }
}

function replyTo<Value>(execute: () => Value): { readonly value?: Value; readonly error?: true } {
  try {
    return { value: execute() };
  } catch {
    return { error: true };
  }
}

function short(key: string): string {
  return key.slice(0, 6) + (key.includes('.') ? key.slice(key.indexOf('.')) : '');
}
