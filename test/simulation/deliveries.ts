import { createHash } from 'crypto';
import type { RevocationRecord } from './records.js';
import { keyInStore } from './instance.js';
import type { Network, Publication } from './network.js';
import type { Host } from './host.js';

const KINDS = { signOut: 'signedOut', forget: 'evicted', forgetUser: 'userRevoked', forgetAll: 'allRevoked' } as const;

/** Positions in the global sequence at which instances learned of a revocation; `Infinity`: never. */
export class Deliveries {
  readonly #network: Network;

  constructor(network: Network) {
    this.#network = network;
  }

  /** Returns the messages of the revoking instance: when each was sent, and when `host` received it. */
  messages(revocation: RevocationRecord, host: Host): { readonly sent: number; readonly received: number }[] {
    return this.#messagesOf(revocation).map(({ sent, received }) => ({ sent, received: received.get(host) ?? Infinity }));
  }

  /** Returns when `host` learned of it from the store: by a new subscription, which means that messages may have been lost, or by the tombstone. */
  byStore({ kind, token, started, settled }: RevocationRecord, host: Host): number {
    const link = this.#network.linkOf.get(host);
    const resubscribed = link?.subscriptions.find(({ began }) => began > settled)?.confirmed ?? Infinity;
    if (kind !== 'signOut' || token === undefined) return resubscribed;
    const key = keyInStore(token);
    const found = link?.tombstones.find((tombstone) => tombstone.key === key && tombstone.executed > started)?.replied ?? Infinity;
    return Math.min(resubscribed, found);
  }

  /** Returns whether `host` ever learned of it, by a message or a new subscription. */
  eventually(revocation: RevocationRecord, host: Host): boolean {
    const subscriptions = this.#network.linkOf.get(host)?.subscriptions ?? [];
    return (
      this.messages(revocation, host).some(({ received }) => received < Infinity) ||
      subscriptions.some(({ began }) => began > revocation.started)
    );
  }

  #messagesOf({ kind, token, username, host, started }: RevocationRecord): Publication[] {
    const digest = token === undefined ? undefined : createHash('sha256').update(token).digest('base64');
    return this.#network.publications.filter((publication) => {
      if (publication.host !== host || publication.sent < started) return false;
      const text = this.#network.textOf(publication.bytes);
      const message = JSON.parse(text) as { readonly kind: string; readonly token?: string; readonly username?: string };
      if (message.kind !== KINDS[kind] || (digest !== undefined && message.token !== digest)) return false;
      return kind !== 'forgetUser' || message.username === username;
    });
  }
}
