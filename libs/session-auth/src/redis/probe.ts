import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { bounded } from './bounded.js';
import { send } from './commands.js';

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
