import type { SeededRandom } from '../support/seeded-random.js';
import type { Liar } from './liar.js';
import { chance } from './random.js';
import type { SimulatedStore } from './store.js';
import type { Host } from './host.js';
import type { World } from './world.js';

/** How many times as long a slow transmission takes, at most. */
export const SLOW = 30;

/** Faults of the network between the instances and the store. Probabilities, from 0 to 1. */
export interface NetworkHealth {
  readonly leastMs: number;
  readonly mostMs: number;
  /** Transmissions that take up to thirty times as long. */
  readonly slow: number;
  /** Commands that never arrive. */
  readonly lostRequests: number;
  /** Commands that are executed without a reply. */
  readonly lostReplies: number;
  /** Commands that fail immediately. */
  readonly refused: number;
  /** Commands that a client retries: executed twice, the second time possibly much later. */
  readonly repeated: number;
  /** Messages that a subscriber misses without notice. */
  readonly lostMessages: number;
  readonly repeatedMessages: number;
  /** Whether commands and messages of an instance arrive in order, as those of a TCP connection do. */
  readonly isOrdered: boolean;
}

/** Whether every command and message arrives, once, in time and in order. */
export function isReliable({
  slow,
  lostRequests,
  lostReplies,
  refused,
  repeated,
  lostMessages,
  isOrdered,
}: NetworkHealth): boolean {
  return (
    isOrdered &&
    [slow, lostRequests, lostReplies, refused, repeated, lostMessages].every((part) => part === 0)
  );
}

export interface Message {
  readonly id: string;
  readonly kind: string;
  /** Base64 of the digest of a token. */
  readonly token?: string;
  readonly username?: string;
  /** Time of the store's clock, as the sender knew it. */
  readonly storeMs?: number;
}

/** A message that an instance has passed to the store. */
export interface Publication {
  readonly host: Host;
  readonly bytes: Uint8Array;
  readonly message: Message;
  readonly secret: string | undefined;
  readonly sentAtMs: number;
  /**
   * Whether the wall clock of its sender stepped while the sender read that of the store: the message is new
   * for longer.
   */
  readonly isDatedAhead: boolean;
  /** Position in the global sequence at which it was first passed to the store. */
  readonly sent: number;
  /** Position at which each host had first received and handled it, if it has the secret. */
  readonly received: Map<Host, number>;
}

export interface Link {
  /** Its subscriptions: when each began at the store, and when it was confirmed to the instance. */
  readonly subscriptions: readonly { readonly began: number; readonly confirmed: number }[];
  /**
   * Timely replies that show a tombstone: its key, when the command was executed, and when the instance
   * received the reply.
   */
  readonly tombstones: readonly {
    readonly key: string;
    readonly executed: number;
    readonly replied: number;
  }[];
  /** Carries a message to the instance, if its connection is open and stays open. */
  carry(
    bytes: Uint8Array,
    publication?: Publication,
    how?: { readonly laterMs?: number; readonly isRepeated?: boolean },
  ): void;
}

/** State that the links of all instances share. */
export class Network {
  readonly world: World;
  readonly store: SimulatedStore;
  readonly random: SeededRandom;
  readonly health: NetworkHealth;
  readonly liar: Liar | undefined;
  readonly links = new Set<Link>();
  /** Links of all instances that ever ran. */
  readonly linkOf = new Map<Host, Link>();
  readonly publications: Publication[] = [];
  /** Called when the store has removed a tombstone on behalf of a host. */
  onCleared: ((host: Host, key: string) => void) | undefined;
  /** Called when an instance has handled a message. */
  onHandled: ((host: Host, publication: Publication) => void) | undefined;
  /**
   * Milliseconds within which an instance handles a message: at once, unless it must ask the store for its
   * time.
   */
  handledMs = 0;
  /**
   * Whether the store's clock has stepped while a message was being sent, or on its way, so that it may count
   * as an old one.
   */
  hasDatedBack = false;
  /** When the store's clock stepped last. */
  steppedAtMs = -Infinity;
  /** Opens a message, for the checker. */
  readonly open: (bytes: Uint8Array) => { readonly text: string; readonly secret: string | undefined };
  /** The message that an instance handles at this moment. */
  arriving:
    | { readonly host: Host; readonly publication: Publication; readonly isRepeated: boolean }
    | undefined;

  constructor(parts: Pick<Network, 'world' | 'store' | 'random' | 'health' | 'liar' | 'open'>) {
    this.world = parts.world;
    this.store = parts.store;
    this.random = parts.random;
    this.health = parts.health;
    this.liar = parts.liar;
    this.open = parts.open;
  }

  /** Returns the delay of one transmission, in milliseconds. */
  delayMs(): number {
    const { leastMs, mostMs, slow } = this.health;
    return (
      this.random.between(leastMs, mostMs) * (chance(this.random, slow) ? this.random.between(1, SLOW) : 1)
    );
  }

  /** Sends a message from the store to the current subscribers. */
  broadcast(publication: Publication): void {
    const { bytes } = publication;
    for (const link of this.links) {
      if (!chance(this.random, this.health.lostMessages)) link.carry(bytes, publication);
      if (chance(this.random, this.health.repeatedMessages))
        link.carry(bytes, publication, { laterMs: this.random.between(0, 500) });
    }
  }

  /** Sends an old message again, or one that no instance sent. */
  forge(): void {
    const old = this.random.pick(this.publications);
    if (old && chance(this.random, 0.7)) {
      for (const link of this.links) link.carry(old.bytes, old, { isRepeated: true });
      return;
    }
    const bytes = Uint8Array.from({ length: 40 }, () => Math.floor(this.random.next() * 256));
    for (const link of this.links) link.carry(bytes);
  }

  /** Sends every old message again. */
  replay(): void {
    const old = this.publications.filter(({ isDatedAhead }) => !isDatedAhead);
    for (const publication of old)
      for (const link of this.links) link.carry(publication.bytes, publication, { isRepeated: true });
  }
}
