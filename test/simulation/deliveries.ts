import { createHash } from 'crypto';
import type { RevocationRecord } from './records.js';
import { isKeyOf } from './instance.js';
import type { Message, Network, Publication } from './network.js';
import type { Host } from './host.js';

const KINDS = {
  signOut: 'signedOut',
  forget: 'evicted',
  forgetUser: 'userRevoked',
  forgetAll: 'allRevoked',
} as const;
const digests = new Map<string, string>();

/** Positions in the global sequence at which instances learned of a revocation; `Infinity`: never. */
export class Deliveries {
  readonly #network: Network;

  constructor(network: Network) {
    this.#network = network;
  }

  /** Whether an instance may take a message for an old one. */
  get mayBeIgnored(): boolean {
    return this.#network.hasDatedBack;
  }

  /** Returns the messages of the revoking instance: when each was sent, and when `host` received it. */
  messages(revocation: RevocationRecord, host: Host): { readonly sent: number; readonly received: number }[] {
    return this.#network.publications
      .filter((publication) => publication.host === revocation.host && publication.sent >= revocation.started)
      .filter(({ message }) => isOf(message, revocation))
      .map(({ sent, received }) => ({ sent, received: received.get(host) ?? Infinity }));
  }

  /**
   * Returns the messages about a session or its user that a host received before a position, and that were
   * sent after one.
   */
  received(
    host: Host,
    before: number,
    { token, names, sentAfter }: { token: string; names: readonly string[]; sentAfter: number },
  ): Publication[] {
    return this.#network.publications.filter(
      ({ sent, received, message }) =>
        sent > sentAfter &&
        (received.get(host) ?? Infinity) < before &&
        concerns(message, digestOf(token), names),
    );
  }

  /**
   * Returns when `host` learned of it from the store: by a new subscription, which means that messages may
   * have been lost, or by the tombstone.
   */
  byStore({ kind, token, started, settled }: RevocationRecord, host: Host): number {
    const link = this.#network.linkOf.get(host);
    const resubscribed = link?.subscriptions.find(({ began }) => began > settled)?.confirmed ?? Infinity;
    if (kind !== 'signOut' || token === undefined) return resubscribed;
    const found =
      link?.tombstones.find(({ key, executed }) => executed > started && isKeyOf(token, key))?.replied ??
      Infinity;
    return Math.min(resubscribed, found);
  }

  /**
   * Returns whether `host` ever learned of it, by a message or a new subscription. After a sign-in, the
   * message may be an eviction.
   */
  eventually(revocation: RevocationRecord, host: Host): boolean {
    const subscriptions = this.#network.linkOf.get(host)?.subscriptions ?? [];
    return (
      this.messages(revocation, host).some(({ received }) => received < Infinity) ||
      subscriptions.some(({ began }) => began > revocation.started)
    );
  }
}

/** Returns whether a message is about a session or one of the names of its user. */
function concerns(message: Message, digest: string, names: readonly string[]): boolean {
  if (message.token !== undefined) return message.token === digest;
  return message.username === undefined || names.includes(message.username);
}

/**
 * Returns whether a message reports a revocation. That of all sessions reports every one; so does an
 * eviction, once a sign-in has replaced a sign-out.
 */
function isOf(message: Message, { kind, token, username }: RevocationRecord): boolean {
  if (message.kind === KINDS.forgetAll) return true;
  if (kind === 'forgetUser') return message.kind === KINDS.forgetUser && message.username === username;
  if (token === undefined || message.token !== digestOf(token)) return false;
  return message.kind === KINDS[kind] || message.kind === KINDS.forget;
}

/** Returns the digest of a token, as messages contain it. */
export function digestOf(token: string): string {
  const known = digests.get(token);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(token).digest('base64');
  digests.set(token, digest);
  return digest;
}
