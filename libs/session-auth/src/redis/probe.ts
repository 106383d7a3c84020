import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { send } from './commands.js';
import { bounded, NoAnswer } from './entries.js';

/** The subscription is made, and messages don't arrive. */
export class Deaf extends Error {}

/** There is no node to subscribe to. */
export class NoNode extends Error {}

const NOT_ALLOWED = 'Redis refuses the subscription: its user lacks the right to the channels or to SUBSCRIBE';
const REFUSED = 'Redis refuses the user name or the password';

/** How the replies of a server begin. The rest of them may name the user. */
const REPLIES: readonly (readonly [RegExp, string])[] = [
  [/^NOPERM/, NOT_ALLOWED],
  [/^(?:WRONGPASS|NOAUTH|ERR invalid password|ERR AUTH)/, REFUSED],
  [/^All sentinels are unreachable/, 'No Sentinel can be reached that knows the master'],
];

/** Codes of Node.js, such as ECONNREFUSED. */
const CODE = /^[A-Z][A-Z\d_]{2,49}$/;

/** Returns one sentence that tells why no message arrives. It has nothing of what a server said. */
export function reasonOf(error: unknown): string {
  if (error instanceof NoNode) return 'The Redis Cluster is not connected';
  if (error instanceof NoAnswer) return 'Redis does not answer';
  if (error instanceof Deaf) return 'Redis does not deliver what is published: the node may have left the cluster';
  const { message = '', code } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  const [, reason] = REPLIES.find(([beginning]) => beginning.test(message)) ?? [];
  if (reason !== undefined) return reason;
  return code !== undefined && CODE.test(code) ? `The connection to Redis failed (${code})` : 'The connection to Redis was closed';
}

/** How long a probe may take to be published, and then to arrive. */
const MAX_PROBE_MS = 400;

/** Shows that a subscription receives what is published elsewhere, by a message on a channel that no other subscription has. */
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

  /** Takes a message of its channel. */
  receive(message: Buffer): void {
    if (message.toString('latin1') !== this.#expected) return;
    this.#expected = undefined;
    this.#onArrival?.();
  }

  /** Whether a message arrives from one of these clients. True if none of them could publish: that tells nothing. */
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
      await bounded(send(publisher, 'publish', this.channel, id), MAX_PROBE_MS, this.#ended);
    } catch {
      return 'not published';
    }
    await bounded(arrival, MAX_PROBE_MS, this.#ended).catch(() => undefined);
    // After a pause of this process its timers come first, and what arrived meanwhile comes next.
    await nextTurn();
    await nextTurn();
    return this.#expected === id ? 'lost' : 'arrived';
  }
}
