import type { SeededRandom } from '../soak/seeded-random.js';
import type { Liar } from './liar.js';
import { chance } from './random.js';
import type { SimulatedStore } from './store.js';
import type { Host } from './host.js';
import type { World } from './world.js';

/** How the network between the instances and the store does. Parts of 1. */
export interface NetworkHealth {
  readonly leastMs: number;
  readonly mostMs: number;
  /** Ways that take up to thirty times as long. */
  readonly slow: number;
  /** Commands that never arrive. */
  readonly lostRequests: number;
  /** Commands that are executed without a reply. */
  readonly lostReplies: number;
  /** Commands that are refused at once. */
  readonly refused: number;
  /** Commands that a client repeats by itself: executed twice, the second time maybe much later. */
  readonly repeated: number;
  /** Messages that a subscriber misses without being told. */
  readonly lostMessages: number;
  readonly repeatedMessages: number;
  /** The commands of an instance arrive in their order, and so do messages: those of a TCP connection do. */
  readonly isOrdered: boolean;
}

/** A message, from when an instance hands it to the store. */
export interface Publication {
  readonly host: Host;
  readonly bytes: Uint8Array;
  /** When it was handed to the store. */
  readonly sent: number;
  /** When each host received it first. */
  readonly received: Map<Host, number>;
}

/** The store, as one instance reaches it. */
export interface Link {
  /** Its subscriptions: when each began at the store, and when the instance was told. */
  readonly subscriptions: readonly { readonly began: number; readonly confirmed: number }[];
  /** Replies in time that show a tombstone: of which key, when the command was executed, and when the instance had the reply. */
  readonly tombstones: readonly { readonly key: string; readonly executed: number; readonly replied: number }[];
  /** Carries a message to the instance, if its connection is there now and lasts. */
  carry(bytes: Uint8Array, publication?: Publication, laterMs?: number): void;
}

/** What the links of all instances have in common. */
export class Network {
  readonly world: World;
  readonly store: SimulatedStore;
  readonly random: SeededRandom;
  readonly health: NetworkHealth;
  readonly liar: Liar | undefined;
  /** Those of instances that run. */
  readonly links = new Set<Link>();
  /** Those of all instances that ever ran. */
  readonly linkOf = new Map<Host, Link>();
  readonly publications: Publication[] = [];
  /** Called when the store has removed a tombstone for a host. */
  onCleared: ((host: Host, key: string) => void) | undefined;
  /** Opens a message, for the checker. */
  readonly textOf: (bytes: Uint8Array) => string;
  readonly #past: Uint8Array[] = [];

  constructor(parts: Pick<Network, 'world' | 'store' | 'random' | 'health' | 'liar' | 'textOf'>) {
    this.world = parts.world;
    this.store = parts.store;
    this.random = parts.random;
    this.health = parts.health;
    this.liar = parts.liar;
    this.textOf = parts.textOf;
  }

  /** Milliseconds of one way. */
  delayMs(): number {
    const { leastMs, mostMs, slow } = this.health;
    return this.random.between(leastMs, mostMs) * (chance(this.random, slow) ? this.random.between(1, 30) : 1);
  }

  /** The store sends a message to those that are subscribed now. */
  broadcast(publication: Publication): void {
    const { bytes } = publication;
    this.#past.push(bytes);
    for (const link of this.links) {
      if (!chance(this.random, this.health.lostMessages)) link.carry(bytes, publication);
      if (chance(this.random, this.health.repeatedMessages)) link.carry(bytes, publication, this.random.between(0, 500));
    }
  }

  /** The store sends an old message again, or one that no instance sent. */
  forge(): void {
    const old = this.random.pick(this.#past);
    const bytes = old && chance(this.random, 0.7) ? old : Uint8Array.from({ length: 40 }, () => Math.floor(this.random.next() * 256));
    for (const link of this.links) link.carry(bytes);
  }
}
