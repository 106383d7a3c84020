import { randomUUID } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { send } from './commands.js';

/** Settles as `work`, or rejects after `ms` milliseconds, or when the signal aborts. */
export function withTimeout<Result>(work: Promise<Result>, ms: number, signal: AbortSignal): Promise<Result> {
  const timeout = delay(ms, undefined, { ref: false, signal }).then(() =>
    Promise.reject(new Interruption('Redis does not answer')),
  );
  return Promise.race([work, timeout]);
}

/** Its message is the reason, as one sentence. */
export class Interruption extends Error {}

const NOT_ALLOWED =
  'Redis refuses the subscription: its user lacks the right to the channels or to SUBSCRIBE';
const REFUSED = 'Redis refuses the user name or the password';

/** Starts of error replies of a server. The rest of a reply may contain the user name. */
const REPLIES: readonly (readonly [RegExp, string])[] = [
  [/^NOPERM/, NOT_ALLOWED],
  [/^(?:WRONGPASS|NOAUTH|ERR invalid password|ERR AUTH)/, REFUSED],
  [/^All sentinels are unreachable/, 'No Sentinel that monitors the master is reachable'],
];

/** Codes of Node.js, such as ECONNREFUSED. */
const CODE = /^[A-Z][A-Z\d_]{2,49}$/;

/** Returns the reason why no message arrives, as one sentence. Contains no text of a server's reply. */
export function reasonOf(error: unknown): string {
  if (error instanceof Interruption) return error.message;
  const { message = '', code } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  const [, reason] = REPLIES.find(([start]) => start.test(message)) ?? [];
  if (reason !== undefined) return reason;
  return code !== undefined && CODE.test(code)
    ? `The connection to Redis failed (${code})`
    : 'The connection to Redis was closed';
}

/** Milliseconds in which a probe must be published, and then arrive. */
const MAX_PROBE_MS = 400;

/**
 * Checks that a subscription receives messages that are published elsewhere, with a message on a channel that
 * only this subscription has.
 */
export class Probe {
  readonly channel: string;
  readonly channelBytes: Buffer;
  readonly #ended: AbortSignal;
  #expected: string | undefined;
  #onArrival: (() => void) | undefined;

  constructor(channel: string, ended: AbortSignal) {
    this.channel = channel;
    this.channelBytes = Buffer.from(channel);
    this.#ended = ended;
  }

  receive(message: Buffer): void {
    if (message.toString('latin1') !== this.#expected) return;
    this.#expected = undefined;
    this.#onArrival?.();
  }

  /**
   * Returns whether a message from one of these clients arrives; `true` if none of them could publish, which
   * proves nothing.
   */
  async arrives(publishers: readonly Redis[]): Promise<boolean> {
    let isLost = false;
    for (const publisher of publishers) {
      const outcome = await this.#try(publisher);
      if (outcome === 'arrived') return true;
      isLost ||= outcome === 'lost';
      this.#ended.throwIfAborted();
    }
    return !isLost;
  }

  async #try(publisher: Redis): Promise<'arrived' | 'lost' | 'not published'> {
    const id = randomUUID();
    this.#expected = id;
    const arrival = new Promise<void>((resolve) => (this.#onArrival = resolve));
    try {
      await withTimeout(send(publisher, 'publish', this.channel, id), MAX_PROBE_MS, this.#ended);
    } catch {
      return 'not published';
    }
    await withTimeout(arrival, MAX_PROBE_MS, this.#ended).catch(() => undefined);
    // After a pause of the process, its timers run first, and messages that arrived in the meantime are read
    // next.
    await nextTurn();
    await nextTurn();
    return this.#expected === id ? 'lost' : 'arrived';
  }
}
