import { once } from 'node:events';
import type { Cluster, Redis } from 'ioredis';
import type { SessionStoreListener } from '../contract/session-store.js';

const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2_000;
/** How often a connection is asked whether it is still one, and how long it may take to answer. */
const HEARTBEAT_MS = 1_000;
const MAX_HEARTBEAT_MS = 1_000;
/** Until messages can be heard: a server may take a connection and answer nothing. */
const CONNECT_TIMEOUT_MS = 2_000;
/** Until a connection that is given up is dropped, whatever the other side does. */
const DISCONNECT_TIMEOUT_MS = 250;

/** Hears one channel on a connection of its own, which it makes anew when it breaks; in a cluster, to whatever node is there. */
export class Subscription {
  readonly #redis: Redis | Cluster;
  readonly #channel: string;
  readonly #listener: SessionStoreListener;
  #connection: Redis | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #stopped = false;

  constructor(redis: Redis | Cluster, channel: string, listener: SessionStoreListener) {
    this.#redis = redis;
    this.#channel = channel;
    this.#listener = listener;
  }

  /** Connects, now and whenever it has to. */
  start(): void {
    if (this.#stopped) return;
    const connection = this.#dial();
    if (!connection) {
      this.#restart();
      return;
    }
    this.#connection = connection;
    // Why it broke is of no interest: the memory of this instance is as good as none until it is mended.
    connection.on('error', () => undefined);
    connection.once('end', () => this.#restart());
    connection.on('messageBuffer', (_channel: Buffer, message: Buffer) => this.#listener.heard(message));
    void this.#subscribe(connection).catch(() => connection.disconnect());
  }

  /** Ends it, with its connection and timers. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    const connection = this.#connection;
    if (!connection || connection.status === 'end') return;
    const ended = once(connection, 'end');
    connection.disconnect();
    await ended;
  }

  async #subscribe(connection: Redis): Promise<void> {
    const overdue = setTimeout(() => connection.disconnect(), CONNECT_TIMEOUT_MS).unref();
    try {
      await connection.connect();
      await connection.subscribe(this.#channel);
    } finally {
      clearTimeout(overdue);
    }
    if (this.#stopped) return;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#listener.reconnected();
    this.#beat(connection);
  }

  /** A connection may be dead without a word of it. */
  #beat(connection: Redis): void {
    this.#timer = setTimeout(() => {
      const overdue = setTimeout(() => connection.disconnect(), MAX_HEARTBEAT_MS).unref();
      const answered = (): void => {
        clearTimeout(overdue);
        if (connection === this.#connection && !this.#stopped) this.#beat(connection);
      };
      // Who may not ask gets an answer too.
      connection.ping().then(answered, answered);
    }, HEARTBEAT_MS).unref();
  }

  #restart(): void {
    clearTimeout(this.#timer);
    this.#connection = undefined;
    if (this.#stopped) return;
    this.#timer = setTimeout(() => this.start(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
  }

  #dial(): Redis | undefined {
    const options = {
      lazyConnect: true,
      autoResubscribe: false,
      retryStrategy: () => null,
      enableOfflineQueue: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
      maxRetriesPerRequest: 0,
    };
    if (!('nodes' in this.#redis)) return this.#redis.duplicate(options);
    const nodes = this.#redis.nodes('all');
    const node = nodes[Math.floor(Math.random() * nodes.length)];
    return node?.duplicate(options);
  }
}
