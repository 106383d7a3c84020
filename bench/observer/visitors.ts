import { setTimeout as delay } from 'node:timers/promises';
import type { SeededRandom } from '../../test/support/seeded-random.js';
import type { Fleet } from './fleet.js';
import type { EndKind } from './instance.process.js';
import type { Journal } from './journal.js';
import { CACHE, TIMEOUT_MS, WHILE_OPEN } from './settings.js';

const USERS = 40;
const SESSIONS_OF_USER = 2;
const WARM_UP_MS = 600;
/** Milliseconds after a revocation at which every instance is called. The last are after every bound. */
const PROBES_MS: readonly (readonly [from: number, to: number])[] = [
  [0, 30],
  [0, 100],
  [50, 250],
  [250, 300],
  [260, 600],
  [600, 1_500],
  [1_500, CACHE.ttlMs],
  [CACHE.ttlMs, CACHE.ttlMs + TIMEOUT_MS + 300],
];

type Episode = (user: string, tokens: readonly string[]) => Promise<void>;

/** Users who call all instances, and whose sessions end in every way. */
export class Visitors {
  readonly #fleet: Fleet;
  readonly #journal: Journal;
  readonly #random: SeededRandom;
  readonly #tokens = new Map<string, string[]>();
  readonly #idle: string[] = [];
  readonly #busy = new Set<Promise<void>>();
  #issued = 0;
  /** Number of episodes per way of ending. */
  readonly ways = new Map<string, number>();

  /** Ways of ending, each with its share. */
  readonly #episodes: readonly (readonly [share: number, name: string, episode: Episode])[] = [
    [25, 'signOut', (user, tokens) => this.#signOut(user, tokens)],
    [12, 'signOut, then a sign-in that issues the same token', (user, tokens) => this.#reissue(user, tokens)],
    [25, 'ended at the service, then forgetUser', (user, tokens) => this.#ended(tokens, 'forgetUser', user)],
    [8, 'forgetUser of valid sessions', (user, tokens) => this.#end('forgetUser', user, tokens)],
    [
      13,
      'ended at the service, then forget',
      (_user, tokens) => this.#ended(tokens.slice(0, 1), 'forget', tokens[0] ?? ''),
    ],
    [5, 'forget of a valid session', (_user, tokens) => this.#end('forget', tokens[0] ?? '', tokens)],
    [8, 'ended at the service alone', (_user, tokens) => this.#endedAlone(tokens)],
    [4, 'ended at the service, then forgetAll', (_user, tokens) => this.#ended(tokens, 'forgetAll', '')],
  ];

  constructor(fleet: Fleet, journal: Journal, random: SeededRandom) {
    this.#fleet = fleet;
    this.#journal = journal;
    this.#random = random;
  }

  /** Starts episodes at a rate per second, along with requests of random users to random instances. */
  async run(untilMs: number, episodesPerSecond: number, now: () => number): Promise<void> {
    for (let user = 0; user < USERS; user += 1) await this.#arrive(`user-${user}`);
    const requests = setInterval(() => this.#anyRequest(), 20);
    while (now() < untilMs) {
      await delay(this.#random.between(0, 2_000 / episodesPerSecond));
      this.#begin();
    }
    while (this.#busy.size > 0) await Promise.all(this.#busy);
    clearInterval(requests);
  }

  #begin(): void {
    const [user] = this.#idle.splice(Math.floor(this.#random.between(0, this.#idle.length)), 1);
    const tokens = user === undefined ? undefined : this.#tokens.get(user);
    if (user === undefined || !tokens) return;
    let place = this.#random.between(0, 100);
    const [, name, episode] =
      this.#episodes.find(([share]) => (place -= share) < 0) ?? this.#episodes[0] ?? [];
    if (!name || !episode) return;
    this.ways.set(name, (this.ways.get(name) ?? 0) + 1);
    this.#track(
      this.#warmUp(tokens)
        .then(() => episode(user, tokens))
        .then(() => this.#arrive(user)),
    );
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#busy.delete(tracked));
    this.#busy.add(tracked);
  }

  /** Creates sessions for a user. */
  async #arrive(user: string): Promise<void> {
    const tokens = Array.from({ length: SESSIONS_OF_USER }, () => `token-${(this.#issued += 1)}`);
    for (const token of tokens) {
      await this.#fleet.service.call('willIssue', { user, token });
      await this.#anyInstance().call('signIn', user);
    }
    this.#tokens.set(user, tokens);
    this.#idle.push(user);
  }

  /** Lets most instances cache the sessions, at different times; in some episodes none does. */
  async #warmUp(tokens: readonly string[]): Promise<void> {
    const share = this.#random.pick([0, 0.5, 0.9, 1]);
    const asked = tokens.flatMap((token) =>
      this.#fleet.callers
        .filter(() => this.#random.next() < share)
        .map(({ instance }) => this.#askAfter(instance, token, WARM_UP_MS)),
    );
    for (const token of tokens) {
      this.#track(this.#compareAfter(token, WARM_UP_MS, 0));
      this.#track(this.#hold(token));
    }
    // The last checks are in flight when the sessions end.
    await Promise.race([Promise.all(asked), delay(WARM_UP_MS)]);
  }

  async #signOut(_user: string, [token = '']: readonly string[]): Promise<void> {
    await this.#end('signOut', token, [token]);
  }

  async #reissue(user: string, [token = '']: readonly string[]): Promise<void> {
    await this.#call('signOut', token);
    const probed = this.#probe([token]);
    await delay(this.#random.between(0, 400));
    await this.#fleet.service.call('willIssue', { user, token });
    await this.#anyInstance().call('signIn', user);
    await Promise.all(this.#fleet.callers.map(({ instance }) => this.#askAfter(instance, token, 300)));
    await this.#end('signOut', token, [token]);
    await probed;
  }

  /** Ends sessions at the service, and then calls an application to revoke or evict them. */
  async #ended(tokens: readonly string[], kind: EndKind, subject: string): Promise<void> {
    await this.#fleet.service.call('end', tokens);
    if (this.#random.next() < 0.5) await delay(this.#random.between(0, 300));
    await this.#end(kind, subject, tokens);
  }

  async #endedAlone(tokens: readonly string[]): Promise<void> {
    await this.#fleet.service.call('end', tokens);
    await this.#probe(tokens);
  }

  async #end(kind: EndKind, subject: string, tokens: readonly string[]): Promise<void> {
    const called = this.#call(kind, subject);
    const probed = this.#probe(tokens);
    const instance = await called;
    await Promise.all(tokens.map((token) => this.#ask(instance, token)));
    await probed;
  }

  /** Revokes or evicts sessions on a random instance, and returns that instance. */
  async #call(kind: EndKind, subject: string): Promise<number> {
    const instance = Math.floor(this.#random.between(0, this.#fleet.instances.length));
    const outcome = await this.#fleet.instances[instance]?.call('end', { kind, subject });
    const whose = kind === 'forgetUser' ? { user: subject } : { token: subject };
    if (outcome) this.#journal.ends.push({ kind, instance, ...(kind !== 'forgetAll' && whose), ...outcome });
    return instance;
  }

  async #probe(tokens: readonly string[]): Promise<void> {
    const probes = tokens.flatMap((token) =>
      this.#fleet.callers.flatMap(({ instance }) =>
        PROBES_MS.map(([from, to]) => this.#askAfter(instance, token, to, from)),
      ),
    );
    const compared = tokens.flatMap((token) =>
      PROBES_MS.map(([from, to]) => this.#compareAfter(token, to, from)),
    );
    await Promise.all([...probes, ...compared]);
  }

  async #askAfter(instance: number, token: string, maxMs: number, minMs = 0): Promise<void> {
    await delay(this.#random.between(minMs, maxMs));
    await this.#ask(instance, token);
  }

  async #ask(instance: number, token: string): Promise<void> {
    const request = await this.#fleet.callers[instance]?.ask(token);
    if (request) this.#journal.requests.push(request);
  }

  /** Reads a reply that stays open, from before the end of its session until after every bound. */
  async #hold(token: string): Promise<void> {
    await delay(this.#random.between(0, WARM_UP_MS / 2));
    const caller = this.#random.pick(this.#fleet.callers);
    const stream = await caller?.hold(
      token,
      WARM_UP_MS + WHILE_OPEN.recheckMs + CACHE.ttlMs + 2 * TIMEOUT_MS,
    );
    if (stream) this.#journal.streams.push(stream);
  }

  async #compareAfter(token: string, maxMs: number, minMs: number): Promise<void> {
    await delay(this.#random.between(minMs, maxMs));
    const request = await this.#fleet.comparison?.ask(token);
    if (request) this.#journal.comparison.push(request);
  }

  #anyRequest(): void {
    const token = this.#random.pick([...this.#tokens.values()].flat());
    if (token !== undefined)
      this.#track(this.#ask(Math.floor(this.#random.between(0, this.#fleet.callers.length)), token));
  }

  #anyInstance(): Fleet['instances'][number] {
    const instance = this.#random.pick(this.#fleet.instances);
    if (!instance) throw new Error('There is no instance');
    return instance;
  }
}
