import type { SessionSeal } from './session-seal.js';

/** What an instance tells the others of a session, which it names by the digest of its token. */
export interface Announcement {
  /** `ended`: signed out. `refused`: over, says the service. `forgotten`: to be asked about again. */
  readonly kind: 'ended' | 'refused' | 'forgotten';
  readonly token: string;
}

/** Hosts' clocks may differ; what is older than that is a message that somebody recorded and sent again. */
const MAX_AGE_MS = 300_000;
/** None of ours is longer; nobody needs to open what can't be one. */
const MAX_BYTES = 256;

/** Seals an announcement. */
export function sealAnnouncement({ kind, token }: Announcement, seal: SessionSeal): Uint8Array {
  return seal.sealMessage(JSON.stringify({ kind, token: Buffer.from(token, 'latin1').toString('base64'), at: Date.now() }));
}

/** Opens an announcement; `undefined` for anything that no instance sent lately. */
export function openAnnouncement(message: Uint8Array, seals: readonly SessionSeal[]): Announcement | undefined {
  if (message.length > MAX_BYTES) return undefined;
  for (const seal of seals) {
    const text = seal.openMessage(message);
    if (text === undefined) continue;
    const { kind, token, at } = JSON.parse(text) as { kind: Announcement['kind']; token: string; at: number };
    return Math.abs(Date.now() - at) < MAX_AGE_MS ? { kind, token: Buffer.from(token, 'base64').toString('latin1') } : undefined;
  }
  return undefined;
}
