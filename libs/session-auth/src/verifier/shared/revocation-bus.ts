import { randomBytes } from 'node:crypto';
import type { TokenKey } from '../../contract/session-identity.js';
import type { SessionStore, StoreSubscriber } from '../../contract/session-store.js';
import { TtlLruMap } from '../cache/ttl-lru-map.js';
import type { Outbox } from './outbox.js';
import { objectIn, type SessionSeal } from './session-seal.js';

/** A message from one instance to the others. Sessions are identified by token digest. */
export type BusMessage =
  | {
      /** Cause: `signedOut` by a user, `refused` by the service, `evicted` by the application. */
      readonly kind: 'signedOut' | 'refused' | 'evicted';
      readonly tokenKey: TokenKey;
    }
  | { readonly kind: 'userRevoked'; readonly username: string }
  | { readonly kind: 'allRevoked' };

/** Callbacks for the state of the bus. */
interface BusReports {
  /** Called when the subscription starts. Earlier messages may have been lost. */
  subscribed(): void;
  /** Called when messages stop arriving. */
  interrupted(reason: string): void;
  /** Called when the wall clock of a sender differs from that of this host by more than {@link CLOCK_TOLERANCE_MS}. */
  clockDiffers(): void;
}

interface Envelope {
  readonly kind: string;
  /** Base64. */
  readonly token?: string;
  readonly username?: string;
  readonly id: string;
  /** Wall clock of the sender. */
  readonly at: number;
}

const TOKEN_KINDS: ReadonlySet<unknown> = new Set(['signedOut', 'refused', 'evicted']);
/** Maximum size of a message. User names have up to 1024 characters, of up to 6 bytes each in JSON. */
const MAX_BYTES = 8_192;
/** Milliseconds within which a repeated message is ignored. */
const DUPLICATE_MS = 600_000;
const MAX_SEEN = 50_000;
const ID_BYTES = 12;
/** Milliseconds beyond which a difference of wall clocks is reported. */
export const CLOCK_TOLERANCE_MS = 60_000;

/** Publishes revocations to the other instances, and receives theirs. Messages are sealed. */
export class RevocationBus {
  readonly #store: SessionStore;
  readonly #outbox: Outbox;
  readonly #seals: readonly SessionSeal[];
  readonly #seen = new TtlLruMap<string, true>({ maxEntries: MAX_SEEN, ttlMs: DUPLICATE_MS }, () => performance.now());

  constructor(store: SessionStore, outbox: Outbox, seals: readonly SessionSeal[]) {
    this.#store = store;
    this.#outbox = outbox;
    this.#seals = seals;
  }

  /** Publishes a message, with retries for `forMs` milliseconds. Resolves after the first attempt. */
  publish(message: BusMessage, forMs: number): Promise<void> {
    const publishAll = () => Promise.all(this.#seal(message).map((bytes) => this.#store.publish(bytes)));
    return this.#outbox.deliver({ name: nameOf(message), forMs, send: publishAll });
  }

  /** Cancels the retries of a message. */
  cancel(message: BusMessage): boolean {
    return this.#outbox.cancel(nameOf(message));
  }

  /** Subscribes to messages. Returns a function that unsubscribes. */
  subscribe(receive: (message: BusMessage) => void, reports: BusReports): () => Promise<void> {
    const subscriber: StoreSubscriber = {
      message: (bytes) => {
        const message = this.#open(bytes, reports);
        if (message) receive(message);
      },
      subscribed: () => reports.subscribed(),
      interrupted: (reason) => reports.interrupted(reason),
    };
    return this.#store.subscribe(subscriber);
  }

  /** Seals a message with every secret: during a rotation, some instances have only one of them. */
  #seal(message: BusMessage): Uint8Array[] {
    const id = randomBytes(ID_BYTES).toString('base64url');
    const token = 'tokenKey' in message ? { token: Buffer.from(message.tokenKey, 'latin1').toString('base64') } : undefined;
    const envelope: Envelope = { ...message, ...token, id, at: Date.now() };
    return this.#seals.map((seal) => seal.sealMessage(JSON.stringify(envelope)));
  }

  /** Opens a message. Returns `undefined` for a forged message, a duplicate, and a kind that this version does not support. */
  #open(bytes: Uint8Array, reports: BusReports): BusMessage | undefined {
    const envelope = bytes.length > MAX_BYTES ? undefined : this.#unseal(bytes);
    if (!envelope || this.#seen.get(envelope.id)) return undefined;
    this.#seen.set(envelope.id, true);
    if (Math.abs(Date.now() - envelope.at) > CLOCK_TOLERANCE_MS) reports.clockDiffers();
    return messageIn(envelope);
  }

  #unseal(bytes: Uint8Array): Envelope | undefined {
    for (const seal of this.#seals) {
      const text = seal.openMessage(bytes);
      if (text !== undefined) return envelopeIn(text);
    }
    return undefined;
  }
}

/** Checks the members, because another version may seal a different form. */
function envelopeIn(text: string): Envelope | undefined {
  const envelope = objectIn(text) as { readonly [Name in keyof Envelope]?: unknown } | undefined;
  return typeof envelope?.id === 'string' && typeof envelope.at === 'number' ? (envelope as Envelope) : undefined;
}

function messageIn({ kind, token, username }: { readonly [Name in keyof Envelope]?: unknown }): BusMessage | undefined {
  if (kind === 'allRevoked') return { kind };
  if (kind === 'userRevoked') return typeof username === 'string' ? { kind, username } : undefined;
  if (typeof token !== 'string' || !TOKEN_KINDS.has(kind)) return undefined;
  return { kind: kind as 'signedOut', tokenKey: Buffer.from(token, 'base64').toString('latin1') as TokenKey };
}

function nameOf(message: BusMessage): string {
  if ('tokenKey' in message) return `message ${message.kind} ${message.tokenKey}`;
  return 'username' in message ? `message ${message.kind} ${message.username}` : `message ${message.kind}`;
}
