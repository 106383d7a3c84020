import { createHash } from 'crypto';
import type { SessionIdentity } from '../../libs/session-auth/src/contract/session-identity.js';
import type { StoreEntry } from '../../libs/session-auth/src/contract/session-store.js';
import type { Verdict } from '../../libs/session-auth/src/contract/outcome.js';
import { Machine } from '../model/machine.js';
import {
  bitOf,
  firstState,
  newFlight,
  newHost,
  type Answer,
  type Revocations,
  type Revocation,
  type RevocationSet,
  type Flight,
  type Host as ModelHost,
  type Settings,
  type State,
} from '../model/state.js';
import type { Follower, Step } from './follower.js';
import type { Host } from './host.js';
import { keyInStore, RECORDS, textOfValue } from './instance.js';
import type { Plan } from './plan.js';
import type { CheckRecord, RevocationRecord } from './records.js';
import type { User } from './service.js';
import type { World } from './world.js';

/** An answer of the service. */
interface Known {
  readonly answer: Answer;
  readonly sentAtMs: number;
  /** Revocations in the store when the call was sent. */
  readonly since: RevocationSet;
}

/** Tolerance for rounding to whole milliseconds at both ends. */
const SLACK_MS = 3;
const MAX_REVOCATIONS = 30;
const NO_REVOCATIONS: Revocations = { known: 0, seen: 0 };
const KINDS: Readonly<Record<string, Revocation['kind']>> = {
  signedOut: 'signOut',
  evicted: 'forget',
  userRevoked: 'forgetUser',
  allRevoked: 'forgetUser',
};

/**
 * Follows a history with the model (test/model): each event of the simulation is an action of the model, and each decision of the library must be
 * one that the model allows. The look-ups and calls of the library are separate flights here, because its own flights cannot be seen from outside:
 * the model allows somewhat more than the library does.
 */
export class Trace implements Follower {
  readonly #world: World;
  readonly #plan: Plan;
  readonly #fail: (violation: string) => void;
  readonly #users: readonly string[];
  readonly #settings: Settings;
  readonly #machine: Machine;
  readonly #state: State;
  readonly #hosts = new Map<Host, ModelHost>();
  readonly #revocations = new Map<RevocationRecord, readonly number[]>();
  readonly #steps: Step[] = [];
  readonly #answers = new Map<number, Known>();
  /** Start of each check, and the revocations that it must respect. */
  readonly #checks = new Map<CheckRecord, { readonly began: number; readonly revocations: Revocations }>();
  /** Position of the last revocation on each host. */
  readonly #revoked = new Map<Host, number>();
  /** Time of the last sign-in of each token on each host. */
  readonly #signedIn = new Map<string, number>();
  /** Messages received, by host: a repeated one has no effect. */
  readonly #received = new Set<string>();
  #position = 0;
  #atMs: number;
  #isOver = false;

  constructor(world: World, plan: Plan, fail: (violation: string) => void) {
    const { settings, sessions } = plan;
    this.#world = world;
    this.#plan = plan;
    this.#fail = fail;
    this.#users = [...new Set(sessions.map(({ username }) => username))];
    this.#settings = {
      hosts: 0,
      users: sessions.map(({ username }) => this.#users.indexOf(username)),
      ttl: settings.memory.ttlMs,
      stale: settings.memory.staleIfErrorMs,
      timeout: Infinity,
      requests: false,
      slack: SLACK_MS,
    };
    this.#machine = new Machine(this.#settings);
    this.#state = firstState(this.#settings, { flights: 0, faults: 0, signIns: 0, ticks: 0 });
    this.#atMs = world.nowMs;
  }

  /** An instance starts. */
  started(host: Host): void {
    const started = newHost(this.#settings);
    this.#hosts.set(host, started);
    this.#state.hosts.push(started);
  }

  // Checks

  /** A check begins. Allows an immediate acceptance only from the cache, or of an earlier check of the request that no revocation followed. */
  checked(check: CheckRecord, verdict: Verdict<User> | undefined): void {
    const host = this.#advance(check.host);
    const began = this.#position;
    this.#checks.set(check, { began, revocations: this.#machine.revocations(this.#state, host) });
    const { token } = check.session;
    if (check.reused) {
      const first = this.#checks.get(check.reused)?.began ?? 0;
      if ((this.#revoked.get(check.host) ?? 0) > first) this.#refuse(`${check.host.name} reuses a check of ${token} after a revocation`);
    } else if (verdict?.kind === 'authenticated') {
      const { answer } = verdict.user;
      const entry = this.#entry(host, token, answer, false);
      if (entry) this.#machine.hit(this.#state, host, entry);
      else this.#refuse(`${check.host.name} has answer ${answer} for ${token} in its cache`);
    }
    this.#judge();
  }

  /** A check is answered. Allows the answer of a flight that it may have joined, or an expired entry. */
  answered(check: CheckRecord, verdict: Verdict<User>): void {
    const host = this.#advance(check.host);
    const begun = this.#checks.get(check);
    if (verdict.kind !== 'authenticated' || check.reused || check.isHit || !begun) return;
    const { answer } = verdict.user;
    const { token } = check.session;
    const isOf = ({ host: asked, flight, closed, began }: Step): boolean =>
      asked === check.host && idIn(flight) === answer && (closed > begun.began || began > begun.began);
    const isAllowed = verdict.stale === true ? this.#entry(host, token, answer, true) !== undefined : this.#steps.some(isOf);
    if (!isAllowed) this.#refuse(`${check.host.name} accepts answer ${answer} for ${token}, which its check cannot have`);
    const known = this.#answers.get(answer);
    if (known)
      this.#machine.accept(this.#state, this.#tokenOf(token), known.answer, { revocations: begun.revocations, lifetime: Infinity });
    this.#judge();
  }

  // The store

  /** A look-up is sent. */
  looks(host: Host, key: string): Step | undefined {
    const token = this.#tokenOfKey(key);
    return token < 0 ? undefined : this.#begin(host, token);
  }

  /** The store executes a look-up. */
  looked(step: Step | undefined, entry: StoreEntry): void {
    if (!step || step.flight.phase === 'looked') return;
    this.#advance();
    const { flight } = step;
    flight.phase = 'looked';
    if (entry.kind === 'tombstone') flight.found = { kind: 'tombstone', shows: this.#signOutsOf(flight.token) };
    const known = entry.kind === 'value' ? this.#answerIn(entry.value, flight.token) : undefined;
    if (!known) return;
    const answer = { ...known.answer, age: this.#world.nowMs - known.sentAtMs };
    const isReadable = this.#machine.isReadable(this.#state, { kind: 'value', answer, since: this.#plan.lies ? -1 : known.since });
    if (isReadable) flight.found = { kind: 'value', answer, countedAge: answer.age };
  }

  /** The reply to a look-up arrives. */
  read(step: Step | undefined): void {
    if (!step) return;
    const host = this.#advance(step.host);
    const { flight } = step;
    const isLate = this.#world.nowMs - step.sentAtMs >= this.#plan.storeTimeoutMs;
    if (!isLate && flight.found.kind === 'tombstone') this.#foundTombstone(step.host, flight.token, flight.found.shows);
    else if (!isLate && flight.found.kind === 'value') this.#machine.read(this.#state, host, flight);
    this.#machine.leave(host, flight);
    this.#judge();
  }

  /** A value is sent. Allows only an answer of a call of this instance that no revocation followed. */
  stores(host: Host, key: string, value: Uint8Array): void {
    this.#advance();
    const token = this.#tokenOfKey(key);
    const known = this.#answerIn(value, token);
    const isAllowed = this.#state.writes.some(({ host: at, answer }) => at === this.#indexOf(host) && answer.id === known?.answer.id);
    if (!isAllowed) this.#refuse(`${host.name} stores answer ${known?.answer.id ?? 'unknown'}, although it was revoked since`);
  }

  /** The reply arrives that a value was refused, in time. */
  refused(host: Host, key: string, sentAtMs: number): void {
    this.#advance();
    if (this.#world.nowMs - sentAtMs < this.#plan.storeTimeoutMs) this.#foundTombstone(host, this.#tokenOfKey(key), 0);
  }

  /** The removal of a tombstone is sent. Allowed only at the moment of a sign-in. */
  clears(host: Host, key: string): void {
    this.#advance();
    const token = this.#tokenOfKey(key);
    if (this.#signedIn.get(`${host.name} ${token}`) !== this.#world.nowMs)
      this.#refuse(`${host.name} removes the tombstone of token ${token} without a sign-in`);
  }

  /** The store executes the record of a revocation. */
  recorded(host: Host, key: string): void {
    this.#advance();
    for (const [revocation, indices] of this.#revocations)
      if (revocation.host === host && recordOf(revocation) === key) for (const index of indices) this.#state.records |= bitOf(index);
  }

  // The service

  /** A call is sent. */
  asks(host: Host, { token }: SessionIdentity): Step {
    const step = this.#begin(host, this.#tokenOf(token));
    this.#machine.ask(this.#state, step.flight);
    step.flight.since = this.#state.records;
    return step;
  }

  /** A response arrives. */
  replied(step: Step | undefined, verdict: Verdict<{ readonly answer: number }>): void {
    if (!step) return;
    const host = this.#advance(step.host);
    const { flight } = step;
    step.closed = Math.min(step.closed, this.#position);
    if (verdict.kind !== 'authenticated' || !flight.call) {
      this.#machine.leave(host, flight);
      return;
    }
    flight.call = { ...flight.call, id: verdict.user.answer };
    flight.reply = 'accepted';
    this.#answers.set(verdict.user.answer, { answer: flight.call, sentAtMs: step.sentAtMs, since: flight.since ?? 0 });
    this.#machine.reply(this.#state, host, flight);
    this.#judge();
  }

  // Revocations

  /** A sign-out, `forget`, `forgetUser` or `forgetAll` begins. */
  ending(revocation: RevocationRecord): void {
    const host = this.#advance(revocation.host);
    const targets = revocation.kind === 'forgetAll' ? this.#users.map((_, user) => user) : [this.#targetOf(revocation)];
    if (this.#state.revocations.length + targets.length > MAX_REVOCATIONS) this.#isOver = true;
    if (this.#isOver) return;
    const kind = revocation.kind === 'forgetAll' ? 'forgetUser' : revocation.kind;
    const indices = targets.map((target) => this.#machine.start(this.#state, this.#indexOf(revocation.host), kind, target));
    this.#revocations.set(revocation, indices);
    host.queue = [];
    this.#revokedOn(revocation.host, kind === 'forgetUser' ? undefined : targets[0]);
  }

  /** It settles. */
  ended(revocation: RevocationRecord): void {
    const host = this.#advance(revocation.host);
    for (const index of this.#revocations.get(revocation) ?? []) {
      const begun = this.#state.revocations[index];
      if (!begun) continue;
      begun.isDirty = !revocation.isClean || this.#plan.lies !== undefined;
      if (this.#plan.lies && begun.kind === 'forget') begun.isVoid = true;
      this.#machine.settle(this.#state, index);
      if (begun.kind === 'signOut') this.#revokedOn(revocation.host, begun.target);
    }
    host.queue = [];
  }

  /** A message arrives. It concerns every such revocation that had settled, or, but for a sign-out, begun. */
  received(at: Host, text: string): void {
    const host = this.#advance(at);
    const message = text.startsWith('{')
      ? (JSON.parse(text) as { id: string; kind: string; token?: string; username?: string })
      : undefined;
    const kind = message && KINDS[message.kind];
    if (!message || !kind || this.#received.has(`${at.name} ${message.id}`)) return;
    this.#received.add(`${at.name} ${message.id}`);
    const token = this.#plan.sessions.findIndex((session) => digestOf(session.token) === message.token);
    const user = this.#users.indexOf(message.username ?? '');
    const targets = message.kind === 'allRevoked' ? this.#users.map((_, index) => index) : [kind === 'forgetUser' ? user : token];
    for (const target of targets) {
      this.#machine.revoke(host, kind, target);
      this.#state.revocations.forEach((revocation, index) => {
        const isPast = revocation.kind !== 'signOut' || revocation.phase === 'settled';
        if (revocation.kind === kind && revocation.target === target && isPast) host.known |= bitOf(index);
      });
    }
    this.#revokedOn(at, kind === 'forgetUser' ? undefined : token);
  }

  /** A subscription begins at the store. */
  subscribing(at: Host): void {
    this.#machine.subscribe(this.#state, this.#advance(at));
  }

  /** It is confirmed to the instance. */
  subscribed(at: Host): void {
    this.#machine.confirm(this.#advance(at));
    this.#revokedOn(at);
  }

  /** A sign-in is answered. */
  signedIn(at: Host, token: string): void {
    const host = this.#advance(at);
    const index = this.#tokenOf(token);
    this.#machine.signIn(this.#state, host, index);
    host.queue = [];
    this.#signedIn.set(`${at.name} ${index}`, this.#world.nowMs);
    this.#close(at, index);
  }

  /** Every event is a step: time passes before it. */
  #advance(host?: Host): ModelHost {
    const passedMs = this.#world.nowMs - this.#atMs;
    this.#position += 1;
    this.#atMs = this.#world.nowMs;
    if (passedMs > 0) this.#machine.pass(this.#state, passedMs);
    return (host && this.#hosts.get(host)) ?? newHost(this.#settings);
  }

  #begin(host: Host, token: number): Step {
    const flight = newFlight(token, NO_REVOCATIONS, 0);
    this.#advance(host).flights.push(flight);
    const step = { host, flight, sentAtMs: this.#world.nowMs, began: this.#position, closed: Infinity };
    this.#steps.push(step);
    return step;
  }

  #foundTombstone(at: Host, token: number, shows: RevocationSet): void {
    const host = this.#hosts.get(at);
    if (!host) return;
    const isNew = host.tombstones[token] === undefined;
    this.#machine.foundTombstone(host, token, shows);
    if (isNew) this.#revokedOn(at, token);
    else this.#close(at, token);
  }

  #revokedOn(host: Host, token?: number): void {
    this.#revoked.set(host, this.#position);
    this.#close(host, token);
  }

  #close(host: Host, token?: number): void {
    for (const step of this.#steps)
      if (step.host === host && (token === undefined || step.flight.token === token)) step.closed = Math.min(step.closed, this.#position);
  }

  #entry(host: ModelHost, token: string, answer: number, isStale: boolean): ModelHost['cache'][number][number] | undefined {
    const entries = host.cache[this.#tokenOf(token)] ?? [];
    return entries.find((entry) => entry.answer.id === answer && this.#machine.isUsable(host, entry, isStale));
  }

  #answerIn(value: Uint8Array, token: number): Known | undefined {
    const session = this.#plan.sessions[token];
    const text = session && textOfValue(session, value);
    return text === undefined ? undefined : this.#answers.get((JSON.parse(text) as { readonly json: User }).json.answer);
  }

  #signOutsOf(token: number): RevocationSet {
    return this.#state.revocations.reduce(
      (all, { kind, target }, index) => (kind === 'signOut' && target === token ? all | bitOf(index) : all),
      0,
    );
  }

  #targetOf({ token, username }: RevocationRecord): number {
    return username === undefined ? this.#tokenOf(token ?? '') : this.#users.indexOf(username);
  }

  #tokenOf(token: string): number {
    return this.#plan.sessions.findIndex((session) => session.token === token);
  }

  #tokenOfKey(key: string): number {
    return this.#plan.sessions.findIndex(({ token }) => keyInStore(token) === key);
  }

  #indexOf(host: Host): number {
    const found = this.#hosts.get(host);
    return found ? this.#state.hosts.indexOf(found) : -1;
  }

  #judge(): void {
    const { violation } = this.#state;
    if (violation === undefined) return;
    this.#state.violation = undefined;
    this.#refuse(violation);
  }

  #refuse(what: string): void {
    if (!this.#isOver) this.#fail(`trace: step ${this.#position} is no action of the model: ${what}`);
    this.#isOver = true;
  }
}

/** The number of the answer that a look-up found or a call received. */
function idIn({ found, call }: Flight): number | undefined {
  return found.kind === 'value' ? found.answer.id : call?.id;
}

function recordOf({ kind, token = '', username = '' }: RevocationRecord): string | undefined {
  if (kind === 'forgetAll') return RECORDS.ofAll;
  if (kind === 'forgetUser') return RECORDS.ofUser(username);
  return kind === 'forget' ? RECORDS.ofToken(token) : undefined;
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
