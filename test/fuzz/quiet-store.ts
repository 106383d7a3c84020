import { SessionStore, type StoreEntry, type StoreSubscriber } from 'nestjs-session-auth/store';

/** A store that keeps nothing, and whose channel carries the messages of the test. */
export class QuietStore extends SessionStore {
  override readonly secret: readonly string[];
  /** The instance that listens. */
  subscriber: StoreSubscriber | undefined;

  constructor(secret: readonly string[]) {
    super();
    this.secret = secret;
  }

  get(): Promise<StoreEntry> {
    return Promise.resolve({ kind: 'none', storeTimeMs: 0 });
  }

  set(): Promise<boolean> {
    return Promise.resolve(true);
  }

  delete(): Promise<boolean> {
    return Promise.resolve(false);
  }

  setTombstone(): Promise<void> {
    return Promise.resolve();
  }

  clearTombstone(): Promise<void> {
    return Promise.resolve();
  }

  setRevocation(): Promise<void> {
    return Promise.resolve();
  }

  getRevocations(keys: readonly string[]): Promise<undefined[]> {
    return Promise.resolve(keys.map(() => undefined));
  }

  publish(): Promise<void> {
    return Promise.resolve();
  }

  subscribe(subscriber: StoreSubscriber): () => Promise<void> {
    this.subscriber = subscriber;
    subscriber.subscribed();
    return () => Promise.resolve();
  }
}
