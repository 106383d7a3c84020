/** An entry of a {@link SessionStore}, as returned by one look-up. */
export type StoreEntry = {
  /**
   * Time of the look-up, in milliseconds on the store's own clock. Compared only with other times of that
   * clock.
   */
  readonly storeTimeMs: number;
} & (
  | {
      /** A session. */
      readonly kind: 'value';
      /** The bytes that were passed to `set`. */
      readonly value: Uint8Array;
      /** Milliseconds until the value expires. */
      readonly remainingMs: number;
    }
  | {
      /** The session was revoked: `set` does nothing until the tombstone expires. */
      readonly kind: 'tombstone';
    }
  | {
      /** No entry. */
      readonly kind: 'none';
    }
);

/** Receives the messages of a {@link SessionStore}. */
export interface StoreSubscriber {
  /** Receives a message that any instance published, including this one. */
  message(bytes: Uint8Array): void;
  /**
   * Called when the subscription is active, and again after each interruption. Earlier messages may be lost.
   */
  subscribed(): void;
  /**
   * Called when messages stop until the next `subscribed`, possibly several times in a row. `reason` is one
   * sentence without secrets.
   */
  interrupted(reason: string): void;
}

const STORE = Symbol.for('nestjs-session-auth:session-store');

/**
 * The session cache that the instances of an application share, behind the cache of each (`cache.store`). It
 * sees neither tokens nor users: keys are digests, values and messages are sealed. It does not have to be
 * reliable, because the session service decides in case of doubt. Every method may reject or hang; callers
 * wait no longer than `timeoutMs`.
 */
export abstract class SessionStore {
  /**
   * Secret that seals the values: 16 to 1024 characters, the same on all instances. In a list, the first
   * secret seals and every secret opens. To rotate it, append the new secret everywhere, then swap the order
   * everywhere, then remove the old secret. @default derived from `apiKey`
   */
  readonly secret?: string | readonly string[] | undefined;

  /** Milliseconds that one call to the store may take. 1 to 1000. @default 50 */
  readonly timeoutMs?: number | undefined;

  /** Returns the entry of a key. */
  abstract get(key: string): Promise<StoreEntry>;

  /**
   * Sets a value for `ttlMs` milliseconds, replacing any other. Returns `false`, and sets nothing, if the key
   * has a tombstone.
   */
  abstract set(key: string, value: Uint8Array, ttlMs: number): Promise<boolean>;

  /** Deletes a value, but not a tombstone. Returns whether there was a value. */
  abstract delete(key: string): Promise<boolean>;

  /**
   * Sets a tombstone for `ttlMs` milliseconds, replacing any entry. If that fails, deletes the entry and
   * rejects.
   */
  abstract setTombstone(key: string, ttlMs: number): Promise<void>;

  /** Deletes a tombstone, or any other entry of the key. */
  abstract clearTombstone(key: string): Promise<void>;

  /**
   * Records a revocation of the sessions of a key at the current time of the store's own clock. Expires after
   * `ttlMs` milliseconds.
   */
  abstract setRevocation(key: string, ttlMs: number): Promise<void>;

  /**
   * Returns the time of the last revocation of each key, in milliseconds on the store's own clock, or
   * `undefined`.
   */
  abstract getRevocations(keys: readonly string[]): Promise<readonly (number | undefined)[]>;

  /** Publishes a message to every subscribed instance. */
  abstract publish(message: Uint8Array): Promise<void>;

  /**
   * Subscribes, and reconnects automatically. Returns a function that unsubscribes and leaves no connection
   * or timer behind.
   */
  abstract subscribe(subscriber: StoreSubscriber): () => Promise<void>;

  /** Returns whether a value is a store, created by any copy of this package. */
  static isOne(value: unknown): value is SessionStore {
    return typeof value === 'object' && value !== null && STORE in value;
  }
}

Object.defineProperty(SessionStore.prototype, STORE, { value: true });
