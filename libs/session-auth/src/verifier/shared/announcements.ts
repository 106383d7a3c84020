import { randomBytes } from 'node:crypto';
import { LapsingMap } from '../lapsing-map.js';
import type { SessionSeal } from './session-seal.js';

/** What an instance tells the others of a session, which it names by the digest of its token. */
export interface Announcement {
  /** `ended`: signed out. `refused`: over, says the service. `forgotten`: to be asked about again. */
  readonly kind: 'ended' | 'refused' | 'forgotten';
  readonly token: string;
}

interface Message extends Announcement {
  readonly id: string;
  readonly at: number;
}

/** Hosts' clocks may differ; what is older than that is a message that somebody recorded and sent again. */
const MAX_AGE_MS = 300_000;
/** None of ours is longer; nobody needs to open what can't be one. */
const MAX_BYTES = 256;
/** Messages that are known again when somebody sends them a second time. */
const MAX_HEARD = 50_000;
const ID_BYTES = 12;

/** Writes and reads what instances tell each other. Each message counts once, however often it is sent. */
export class Announcements {
  readonly #seals: readonly SessionSeal[];
  readonly #heard = new LapsingMap<true>({ maxEntries: MAX_HEARD, lifetimeMs: 2 * MAX_AGE_MS }, () => performance.now());

  constructor(seals: readonly SessionSeal[]) {
    this.#seals = seals;
  }

  /** Seals an announcement with every secret: in a rotation, some instances know only one of them. */
  seal({ kind, token }: Announcement): Uint8Array[] {
    const id = randomBytes(ID_BYTES).toString('base64url');
    const message: Message = { kind, token: Buffer.from(token, 'latin1').toString('base64'), id, at: Date.now() };
    return this.#seals.map((seal) => seal.sealMessage(JSON.stringify(message)));
  }

  /** Opens an announcement; `undefined` for anything that no instance sent lately, or that was heard before. */
  open(bytes: Uint8Array): Announcement | undefined {
    const message = this.#read(bytes);
    if (!message || Math.abs(Date.now() - message.at) >= MAX_AGE_MS || this.#heard.get(message.id)) return undefined;
    this.#heard.set(message.id, true);
    return { kind: message.kind, token: Buffer.from(message.token, 'base64').toString('latin1') };
  }

  #read(bytes: Uint8Array): Message | undefined {
    if (bytes.length > MAX_BYTES) return undefined;
    for (const seal of this.#seals) {
      const text = seal.openMessage(bytes);
      if (text !== undefined) return JSON.parse(text) as Message;
    }
    return undefined;
  }
}
