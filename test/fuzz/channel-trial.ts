import { createHash } from 'node:crypto';
import type { SessionAuthService } from 'nestjs-session-auth';
import { damaged, sealed, SECRETS, TIMELY_MS, type ChannelCase, type Field } from './channel-arbitraries.js';
import type { QuietStore } from './quiet-store.js';
import type { Counts } from './runs.js';

const USERS = 3;
const SESSIONS = 6;
const MAX_TRIES = 1_000;

/** The effect of a message on a cached session: it must be evicted, it must stay, or both are right. */
type Effect = 'evicted' | 'kept' | 'either';

/** The session service, which accepts the tokens of the test, and how often it was asked for each. */
interface CountedService {
  readonly url: string;
  readonly calls: Map<string, number>;
}

/** One instance with cached sessions, and the messages on its channel. */
export class ChannelTrial {
  readonly #sessions: SessionAuthService;
  readonly #store: QuietStore;
  readonly #service: CountedService;
  readonly #counts: Counts;
  readonly #tokens = Array.from({ length: SESSIONS }, () => '');
  readonly #isCached: boolean[] = [];
  readonly #revokedUsers = new Set<string>();
  #issued = 0;
  #ids = 0;
  /** The last number of a message that the instance could open. */
  #seen = -1;

  constructor(sessions: SessionAuthService, store: QuietStore, service: CountedService, counts: Counts) {
    this.#sessions = sessions;
    this.#store = store;
    this.#service = service;
    this.#counts = counts;
  }

  /** Publishes the case. Returns the error in its effect. */
  async run(channelCase: ChannelCase): Promise<string | undefined> {
    await this.#cacheAll();
    const text = channelCase.text ?? JSON.stringify(this.#envelopeOf(channelCase));
    const whole = sealed(
      text,
      channelCase,
      channelCase.scope === 'own' ? this.#service.url : `${this.#service.url}/other`,
    );
    const bytes = damaged(whole, channelCase.damage);
    const effects = this.#effectsOf(channelCase, text, bytes.equals(whole));
    try {
      for (let time = 0; time < channelCase.times; time += 1) this.#store.subscriber?.message(bytes);
    } catch (error) {
      return `the channel throws ${String(error)}`;
    }
    return this.#judge(effects, channelCase);
  }

  /** Every session is cached before the case; one that was signed out has a new token. */
  async #cacheAll(): Promise<void> {
    for (const [index, token] of this.#tokens.entries()) {
      if (token === '') this.#tokens[index] = `token-${(this.#issued += 1)}.user-${index % USERS}`;
      if (this.#isCached[index] !== true) await this.#cache(index);
    }
  }

  /** An answer of the millisecond of a revocation is not cached. */
  async #cache(index: number): Promise<void> {
    const token = this.#tokens[index] ?? '';
    let tries = 0;
    for (let calls = -1; calls !== this.#service.calls.get(token); tries += 1) {
      if (tries === MAX_TRIES) throw new Error(`Session ${index} is never cached`);
      calls = this.#service.calls.get(token) ?? 0;
      await this.#sessions.verify(token);
      await new Promise(setImmediate);
    }
    this.#service.calls.delete(token);
    this.#isCached[index] = true;
  }

  #envelopeOf({ kind, token, username, id, at, from, storeMs }: ChannelCase): object {
    if (id === 'new') this.#ids += 1;
    const named = typeof id === 'object' ? { id: id.value } : id === 'none' ? {} : { id: `id-${this.#ids}` };
    const [sealedToken, name] = [this.#valueOf(token), this.#valueOf(username)];
    return {
      kind,
      ...named,
      at,
      from,
      storeMs,
      ...(token && { token: sealedToken }),
      ...(username && { username: name }),
    };
  }

  #valueOf(field: Field | undefined): unknown {
    if (!field) return undefined;
    if (field.kind === 'other') return field.value;
    if (field.kind === 'user') return `user-${field.index % USERS}`;
    const digest = digestOf(this.#tokens[field.index % SESSIONS] ?? '');
    return field.kind === 'session'
      ? digest
      : digest.replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '_');
  }

  /**
   * Returns the expected effect on each session: only an undamaged, new message of the fleet, of a known
   * kind, revokes the sessions that it names.
   */
  #effectsOf(channelCase: ChannelCase, text: string, isWhole: boolean): Effect[] {
    const { key, use, scope, id, at, from, storeMs } = channelCase;
    const kept = this.#tokens.map((): Effect => 'kept');
    const isOwn = use === 'messages' && scope === 'own' && SECRETS.some((secret) => secret === key);
    if (!isOwn || !isWhole || text.length > 8_000) return kept;
    // A text of any kind may happen to be a message; it names no session of the test.
    if (channelCase.text !== undefined)
      return kept.map(() => (text.includes('allRevoked') ? 'either' : 'kept'));
    if (typeof at !== 'number' || typeof id === 'object' || id === 'none') return kept;
    if (typeof from !== 'string' || typeof storeMs !== 'number') return kept;
    const isNew = this.#seen !== this.#ids;
    this.#seen = this.#ids;
    if (!isNew) return kept;
    const effects = this.#effectsOfNew(channelCase, kept);
    // An old one is ignored, as soon as the instance has read the clock of the store again.
    return storeMs === TIMELY_MS ? effects : effects.map((effect) => (effect === 'kept' ? 'kept' : 'either'));
  }

  #effectsOfNew({ kind, token, ...channelCase }: ChannelCase, kept: readonly Effect[]): Effect[] {
    if (kind === 'allRevoked') return kept.map(() => 'evicted');
    const username = this.#valueOf(channelCase.username);
    if (kind === 'userRevoked' && typeof username === 'string') this.#revokedUsers.add(username);
    if (kind === 'userRevoked')
      return kept.map((_, index) => (username === `user-${index % USERS}` ? 'evicted' : 'kept'));
    if (kind !== 'signedOut' && kind !== 'refused' && kind !== 'evicted') return [...kept];
    if (token?.kind !== 'session' && token?.kind !== 'session, spelled otherwise') return [...kept];
    const named = token.index % SESSIONS;
    return kept.map((_, index) =>
      index === named ? (token.kind === 'session' ? 'evicted' : 'either') : 'kept',
    );
  }

  async #judge(effects: readonly Effect[], { kind }: ChannelCase): Promise<string | undefined> {
    for (const [index, effect] of effects.entries()) {
      const token = this.#tokens[index] ?? '';
      const before = this.#service.calls.get(token) ?? 0;
      const { username } = await this.#sessions.verify(token);
      const wasAsked = (this.#service.calls.get(token) ?? 0) > before;
      this.#counts.add(wasAsked ? 'sessions checked again' : 'sessions kept');
      if (username !== `user-${index % USERS}`) return `session ${index} has the user ${String(username)}`;
      if (effect === 'evicted' && !wasAsked) return `session ${index} is not checked again`;
      // The age of an entry is read from the clock twice. Between, a millisecond may begin, and an entry that
      // is younger than a revocation counts as older.
      const mayBeTooOld = this.#revokedUsers.has(username);
      if (effect === 'kept' && wasAsked && mayBeTooOld)
        this.#counts.add('sessions of revoked users checked once more');
      else if (effect === 'kept' && wasAsked) return `session ${index} is checked again`;
      // A tombstone stays; later cases need a session that can be cached.
      if (wasAsked && kind === 'signedOut') this.#tokens[index] = '';
      if (wasAsked) this.#isCached[index] = false;
    }
    return undefined;
  }

  /** No message lets a token in that the service refuses. */
  async refusesStrangers(): Promise<boolean> {
    const refused = await this.#sessions.verify('no-session').then(
      () => false,
      () => true,
    );
    return refused;
  }
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
