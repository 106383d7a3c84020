/** An entry of a {@link SessionStore}, as one look-up found it. */
export type StoreEntry = StoreEntryKind & {
  /** Milliseconds on the store's own clock at the time of the look-up. Compared only with other times of that clock. */
  readonly storeTimeMs: number;
};

/** The kinds of entries that a key can have. */
export type StoreEntryKind =
  | {
      /** A session. */
      readonly kind: 'value';
      /** The bytes that were given to `set`. */
      readonly value: Uint8Array;
      /** Milliseconds until it expires. */
      readonly remainingMs: number;
    }
  | {
      /** The session was revoked: `set` does nothing until the tombstone expires. */
      readonly kind: 'tombstone';
    }
  | {
      /** Another instance is asking the session service. */
      readonly kind: 'leased';
      /** The `id` of its lease. */
      readonly lease: string;
    }
  | {
      /** Nothing. The caller holds the lease now, if it asked for one. */
      readonly kind: 'none';
    };

/** The right to ask the session service on behalf of all instances. */
export interface StoreLease {
  /** Unique to this lease. Letters, digits, `-`, `_` and `.` only. */
  readonly id: string;
  /** Identifies the instance that asks. Letters, digits, `-` and `_` only. */
  readonly holder: string;
  /** Milliseconds after which the lease ends in any case. */
  readonly ttlMs: number;
  /** Milliseconds that the lease counts without a sign of life of its holder. From then on it ends as soon as `keepAlive` lapses. */
  readonly graceMs: number;
}

/** Receives the messages of a {@link SessionStore}. */
export interface StoreSubscriber {
  /** A message that an instance published, this one included. */
  message(bytes: Uint8Array): void;
  /** Messages arrive from now on. Earlier ones may have been lost. Called again after each interruption. */
  subscribed(): void;
  /** No message arrives until the next `subscribed`. `reason` is one sentence without secrets. May be called several times in a row. */
  interrupted(reason: string): void;
}

const STORE = Symbol.for('nestjs-session-auth:session-store');

/**
 * The session cache that the instances of an application share, behind the cache of each (`cache.store`). It sees neither tokens nor users:
 * keys are digests, values and messages are sealed. It does not have to be reliable, because the session service decides in any doubt.
 * Every method may reject or hang; callers wait no longer than `timeoutMs`. `SESSION_STORE_RULES` of `nestjs-session-auth/testing` test
 * an implementation.
 */
export abstract class SessionStore {
  /**
   * Seals the values: 16 to 1024 characters, the same on all instances. With a list, the first seals and all open. To change it, first add the
   * new secret behind the old one everywhere, then swap their order everywhere, then remove the old one. @default derived from `apiKey`
   */
  readonly secret?: string | readonly string[] | undefined;

  /** Milliseconds that one call to the store may take. 1 to 1000. @default 50 */
  readonly timeoutMs?: number | undefined;

  /** Returns the entry of a key. If there is none and a lease is given, takes the lease in the same atomic step. */
  abstract get(key: string, lease?: StoreLease): Promise<StoreEntry>;

  /** Sets a value for so many milliseconds, over a lease or another value. Returns `false`, and does nothing, where there is a tombstone. */
  abstract set(key: string, value: Uint8Array, ttlMs: number): Promise<boolean>;

  /** Deletes a value or a lease, but no tombstone. Returns whether there was a value. */
  abstract delete(key: string): Promise<boolean>;

  /** Deletes the lease with this id. Another lease, a value or a tombstone stays. */
  abstract releaseLease(key: string, id: string): Promise<void>;

  /** Keeps every lease of this holder for so many milliseconds. */
  abstract keepAlive(holder: string, ttlMs: number): Promise<void>;

  /** Sets a tombstone for so many milliseconds, over whatever is there. If it can't be set, deletes what is there, and rejects. */
  abstract setTombstone(key: string, ttlMs: number): Promise<void>;

  /** Deletes a tombstone, and whatever else is there. */
  abstract clearTombstone(key: string): Promise<void>;

  /** Records that the sessions that a key stands for were revoked now, on the store's own clock. The record expires after so many milliseconds. */
  abstract setRevocation(key: string, ttlMs: number): Promise<void>;

  /** Returns for each key when `setRevocation` was last called, in milliseconds on the store's own clock, or `undefined`. */
  abstract getRevocations(keys: readonly string[]): Promise<readonly (number | undefined)[]>;

  /** Sends a message to every instance that is subscribed. */
  abstract publish(message: Uint8Array): Promise<void>;

  /** Subscribes, and reconnects by itself. Returns a function that unsubscribes and leaves no connection or timer behind. */
  abstract subscribe(subscriber: StoreSubscriber): () => Promise<void>;

  /** Whether a value is a store, of any copy of this package. */
  static isOne(value: unknown): value is SessionStore {
    return typeof value === 'object' && value !== null && STORE in value;
  }
}

Object.defineProperty(SessionStore.prototype, STORE, { value: true });
