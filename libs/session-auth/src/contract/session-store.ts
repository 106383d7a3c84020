/** What a {@link SessionStore} has under a key. */
export type StoredSession =
  | {
      /** A value is there. */
      readonly state: 'kept';
      /** The value, as it was given to `keep`. */
      readonly value: Uint8Array;
      /** Milliseconds that it will still be there. */
      readonly remainingMs: number;
    }
  | {
      /** The session was ended: nothing is kept under this key for a while. */
      readonly state: 'ended';
    }
  | {
      /** Another instance is asking the service. */
      readonly state: 'claimed';
    }
  | {
      /** Nothing; from now on it is claimed, if that was wished. */
      readonly state: 'free';
    };

/** What a {@link SessionStore} tells an instance. */
export interface SessionStoreListener {
  /** A message that an instance announced, this one included. */
  heard(message: Uint8Array): void;
  /** Messages can be heard again, after a time in which some may have been lost. */
  reconnected(): void;
}

const STORE = Symbol.for('nestjs-session-auth:session-store');

/**
 * The memory that the instances of an application share, behind the memory of each (`cache.store`). It sees neither tokens nor users:
 * keys are digests, values and messages are sealed. It need not be reliable: whatever it does wrong, the session service decides.
 * Every method may reject and may hang; callers wait no longer than `timeoutMs`. `SESSION_STORE_RULES` of
 * `nestjs-session-auth/testing` try whether a store is one.
 */
export abstract class SessionStore {
  /**
   * What values are sealed with, 16 to 1024 characters and the same on all instances. In a list the first seals and all open: add the new
   * one behind the old one everywhere, then change their order everywhere, then drop the old one. @default derived from `apiKey`
   */
  readonly secret?: string | readonly string[] | undefined;

  /** Milliseconds that one call to the store may take. 1 to 1000. @default 50 */
  readonly timeoutMs?: number | undefined;

  /** What is there under a key. Where nothing is and `claimMs` is above 0, claims the key for so long, in one step. */
  abstract take(key: string, claimMs: number): Promise<StoredSession>;

  /** Keeps a value for so many milliseconds, over a claim or another value. Does nothing and gives `false` where the session was ended. */
  abstract keep(key: string, value: Uint8Array, forMs: number): Promise<boolean>;

  /** Marks a session as ended for so many milliseconds, over whatever was there. */
  abstract end(key: string, forMs: number): Promise<void>;

  /** Gives up a claim; a value or a mark stays. */
  abstract release(key: string): Promise<void>;

  /** Drops a value or a claim; a mark stays. */
  abstract drop(key: string): Promise<void>;

  /** Drops a mark, and whatever else is there. */
  abstract pardon(key: string): Promise<void>;

  /** Sends a message to every instance that listens. */
  abstract announce(message: Uint8Array): Promise<void>;

  /** Hears messages from now on, reconnecting by itself. Gives what ends it, after which no connection or timer of it is left. */
  abstract listen(listener: SessionStoreListener): () => Promise<void>;

  /** Whether something is a store, of whichever copy of this package. */
  static isOne(value: unknown): value is SessionStore {
    return typeof value === 'object' && value !== null && STORE in value;
  }
}

Object.defineProperty(SessionStore.prototype, STORE, { value: true });
