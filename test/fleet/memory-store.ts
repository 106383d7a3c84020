import {
  SessionStore,
  type StoreEntry,
  type StoreSubscriber,
} from '../../libs/session-auth/src/contract/session-store.js';

interface Kept {
  /** Of a session. A tombstone has none. */
  readonly value?: Uint8Array;
  readonly untilMs: number;
}

/** The Redis of a fleet, with a clock of its own. */
export class MemoryServer {
  readonly entries = new Map<string, Kept>();
  readonly revocations = new Map<string, number>();
  readonly subscribers = new Set<StoreSubscriber>();
  readonly published: Uint8Array[] = [];
  clockOffsetMs = 1_000_000;

  get nowMs(): number {
    return performance.now() + this.clockOffsetMs;
  }

  /** The kinds of its entries, also of those that have expired. */
  get kinds(): string[] {
    return [...this.entries.values()].map((kept) => (isTombstone(kept) ? 'tombstone' : 'value'));
  }
}

function isTombstone(kept: Kept | undefined): boolean {
  return kept !== undefined && !kept.value;
}

/** The connection of one instance. */
export class MemoryStore extends SessionStore {
  isDown = false;
  /** Milliseconds that each command takes. */
  tookMs = 0;
  commands = 0;

  constructor(readonly server: MemoryServer) {
    super();
  }

  get(key: string): Promise<StoreEntry> {
    return this.#run(({ entries, nowMs: storeTimeMs }) => {
      const { value, untilMs = 0 } = entries.get(key) ?? {};
      if (untilMs <= storeTimeMs) return { kind: 'none', storeTimeMs };
      if (!value) return { kind: 'tombstone', storeTimeMs };
      return { kind: 'value', value, remainingMs: untilMs - storeTimeMs, storeTimeMs };
    });
  }

  set(key: string, value: Uint8Array, ttlMs: number): Promise<boolean> {
    return this.#run(({ entries, nowMs }) => {
      if (isTombstone(entries.get(key))) return false;
      entries.set(key, { value, untilMs: nowMs + ttlMs });
      return true;
    });
  }

  delete(key: string): Promise<boolean> {
    return this.#run(({ entries }) => {
      return !isTombstone(entries.get(key)) && entries.delete(key);
    });
  }

  setTombstone(key: string, ttlMs: number): Promise<void> {
    return this.#run(({ entries, nowMs }) => void entries.set(key, { untilMs: nowMs + ttlMs }));
  }

  clearTombstone(key: string): Promise<void> {
    return this.#run(({ entries }) => void entries.delete(key));
  }

  setRevocation(key: string): Promise<void> {
    return this.#run(({ revocations, nowMs }) => void revocations.set(key, nowMs));
  }

  getRevocations(keys: readonly string[]): Promise<(number | undefined)[]> {
    return this.#run(({ revocations }) => keys.map((key) => revocations.get(key)));
  }

  publish(message: Uint8Array): Promise<void> {
    return this.#run(({ published, subscribers }) => {
      published.push(message);
      for (const subscriber of subscribers) subscriber.message(message);
    });
  }

  subscribe(subscriber: StoreSubscriber): () => Promise<void> {
    this.server.subscribers.add(subscriber);
    subscriber.subscribed();
    return () => Promise.resolve(void this.server.subscribers.delete(subscriber));
  }

  async #run<Value>(command: (server: MemoryServer) => Value): Promise<Value> {
    this.commands += 1;
    if (this.tookMs > 0) await new Promise((resolve) => setTimeout(resolve, this.tookMs));
    if (this.isDown) throw new Error('Redis is not connected');
    return command(this.server);
  }
}
