import {
  SessionStore,
  type StoreEntry,
  type StoreEntryKind,
  type StoreLease,
  type StoreSubscriber,
} from '../../libs/session-auth/src/contract/session-store.js';

/** The Redis of a fleet, with a clock of its own. */
export class MemoryServer {
  readonly entries = new Map<string, StoreEntryKind & { readonly untilMs: number }>();
  readonly revocations = new Map<string, number>();
  readonly subscribers = new Set<StoreSubscriber>();
  readonly published: Uint8Array[] = [];
  /** The holders of the heartbeats. */
  readonly beats: string[] = [];
  clockOffsetMs = 1_000_000;

  get nowMs(): number {
    return performance.now() + this.clockOffsetMs;
  }
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

  get(key: string, lease?: StoreLease): Promise<StoreEntry> {
    return this.#run((server) => {
      const found = server.entries.get(key);
      if (found && found.untilMs > server.nowMs)
        return {
          ...found,
          ...(found.kind === 'value' && { remainingMs: found.untilMs - server.nowMs }),
          storeTimeMs: server.nowMs,
        };
      if (lease)
        server.entries.set(key, { kind: 'leased', lease: lease.id, untilMs: server.nowMs + lease.ttlMs });
      return { kind: 'none', storeTimeMs: server.nowMs };
    });
  }

  set(key: string, value: Uint8Array, ttlMs: number): Promise<boolean> {
    return this.#run(({ entries, nowMs }) => {
      if (entries.get(key)?.kind === 'tombstone') return false;
      entries.set(key, { kind: 'value', value, remainingMs: ttlMs, untilMs: nowMs + ttlMs });
      return true;
    });
  }

  delete(key: string): Promise<boolean> {
    return this.#run(({ entries }) => {
      const { kind } = entries.get(key) ?? {};
      return kind !== 'tombstone' && entries.delete(key) && kind === 'value';
    });
  }

  setTombstone(key: string, ttlMs: number): Promise<void> {
    return this.#run(
      ({ entries, nowMs }) => void entries.set(key, { kind: 'tombstone', untilMs: nowMs + ttlMs }),
    );
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

  releaseLease(key: string, id: string): Promise<void> {
    return this.#run(({ entries }) => {
      const found = entries.get(key);
      if (found?.kind === 'leased' && found.lease === id) entries.delete(key);
    });
  }

  keepAlive(holder: string): Promise<void> {
    return this.#run(({ beats }) => void beats.push(holder));
  }

  async #run<Value>(command: (server: MemoryServer) => Value): Promise<Value> {
    this.commands += 1;
    if (this.tookMs > 0) await new Promise((resolve) => setTimeout(resolve, this.tookMs));
    if (this.isDown) throw new Error('Redis is not connected');
    return command(this.server);
  }
}
