import type { Verdict } from '../../libs/session-auth/src/contract/outcome.js';
import { keyInStore } from './instance.js';
import type { Network } from './network.js';
import type { CheckRecord, EndRecord, SignInRecord } from './records.js';
import { Told } from './told.js';
import type { Plan } from './plan.js';
import type { Answer, SimulatedService, User } from './service.js';
import type { Host } from './host.js';
import type { World } from './world.js';

/** Rounding to whole milliseconds, at both ends. */
const ROUNDING_MS = 3;
/** What failed is repeated within this time of the moment when the store works again. */
const REPEATED_WITHIN_MS = 1_500;

/**
 * Holds what the library answers against what it promises. The record of each user carries the number of the answer of the service that it
 * comes from, so that for each acceptance the time of its call is known.
 *
 * The documented bound: a session is answered from a cache for `ttlMs` after its call was SENT; a check ends within `timeoutMs`. A session that
 * the service ended at a time E was accepted by calls that were sent before E, so that no check accepts it after E + `ttlMs` + `timeoutMs`
 * (+ `staleIfErrorMs` where that is on), whatever the store does, as long as wall clocks are right or the store's lifetimes are honest.
 * Ends that the library is told of are stricter:
 * - on the instance that was told, from the moment that its promise settles, whatever the store does;
 * - on another instance, from the moment that the message arrives, whatever the store does;
 * - on another instance also from the moment that it is subscribed again, or that the store shows it the tombstone, while the store is honest;
 * - on another instance without any of these, for all that it does not have in its own cache already, while the store is honest.
 * `forget` bars nothing: with a store that lies, only the first bound holds for it.
 */
export class Checker {
  readonly #world: World;
  readonly #plan: Plan;
  readonly #service: SimulatedService;
  readonly #told: Told;
  /** Until when the store or its network did not work. */
  troubleUntilMs = -Infinity;
  readonly ends: EndRecord[] = [];
  readonly signIns: SignInRecord[] = [];
  readonly violations: string[] = [];
  checks = 0;
  accepted = 0;

  constructor(parts: { world: World; plan: Plan; service: SimulatedService; network: Network }) {
    this.#world = parts.world;
    this.#plan = parts.plan;
    this.#service = parts.service;
    this.#told = new Told(parts.network);
    parts.network.onCleared = (host, key) => this.#judgeCleared(host, key);
  }

  /** Something that must not be. */
  fail(what: string): void {
    this.violations.push(what);
    this.#world.trace(() => `VIOLATION: ${what}`);
  }

  /** Judges what a check was answered. */
  judge(check: CheckRecord, verdict: Verdict<User>): void {
    this.checks += 1;
    this.#judgeTime(check);
    if (verdict.kind === 'authenticated') this.#judgeAcceptance(check, verdict.user, verdict.stale === true);
    else if (verdict.kind === 'unauthenticated' && !check.reused) this.#judgeRejection(check);
    else if (verdict.kind === 'unavailable') this.#judgeOutage(check, verdict.reason);
  }

  #judgeTime({ beganAtMs, reused, blockedMs }: CheckRecord): void {
    const tookMs = this.#world.nowMs - (reused ?? { beganAtMs }).beganAtMs;
    const { timeoutMs } = this.#plan.settings.protection;
    if (!reused && tookMs > timeoutMs + blockedMs + ROUNDING_MS) this.fail(`waits: a check took ${tookMs} ms`);
  }

  #judgeAcceptance(check: CheckRecord, user: User, isStale: boolean): void {
    this.accepted += 1;
    const answer = this.#service.answers[user.answer];
    const { token, authIv } = check.session;
    if (answer?.token !== token || user.auth_token !== token || answer.authIv !== authIv || answer.username !== user.username) {
      this.fail(`own user: ${user.username} was returned for ${token}`);
      return;
    }
    this.#judgeAge(check, answer, isStale);
    for (const end of this.ends) if (concerns(end, answer)) this.#judgeEnd(check, answer, end, isStale);
  }

  #judgeAge(check: CheckRecord, { sentAtMs, sent, maxCacheMs }: Answer, isStale: boolean): void {
    const { settings } = this.#plan;
    const { ttlMs, staleIfErrorMs } = settings.memory;
    const lifetimeMs = Math.min(ttlMs, maxCacheMs ?? Infinity) + (isStale ? staleIfErrorMs : 0);
    const waitMs = check.isHit ? 0 : settings.protection.timeoutMs + check.blockedMs;
    const ageMs = (check.isHit ? check.beganAtMs : this.#world.nowMs) - sentAtMs;
    if (isStale && staleIfErrorMs === 0) this.fail('stale: a stale session was served without staleIfErrorMs');
    if (!check.reused && ageMs > lifetimeMs + waitMs + ROUNDING_MS) this.fail(`lifetime: accepted ${ageMs.toFixed(1)} ms after the call`);
    if (check.maxAgeMs === Infinity) return;
    if (isStale) this.fail('freshness: a stale session satisfied maxAgeMs');
    const first = check.reused ?? check;
    if (check.maxAgeMs === 0 && sent < first.began) this.fail('freshness: maxAgeMs 0 was satisfied by an earlier call');
    if (sentAtMs < first.beganAtMs - check.maxAgeMs - ROUNDING_MS) this.fail('freshness: older than maxAgeMs');
  }

  #judgeEnd(check: CheckRecord, answer: Answer, end: EndRecord, isStale: boolean): void {
    if (answer.sent > end.settled || check.began < end.started) return;
    const isBefore = answer.sent < end.started || (end.kind === 'signOut' && !this.#wasIssued(end));
    if (!isBefore) return;
    const what = `${end.kind} on ${end.host.name} at #${end.started}; ${check.host.name} accepts a call of #${answer.sent}`;
    const isHonest = this.#plan.lies === undefined;
    // A sign-in has lifted what this instance held against the token; a store that lies may put back what was there before.
    if (!isHonest && end.kind === 'signOut' && this.#wasIssued(end)) return;
    const isKept = end.kind !== 'forget' || isHonest;
    if (end.host === check.host) {
      if (check.began > end.settled && isKept) this.fail(`settled: ${what}`);
      return;
    }
    const wasTold = this.#told.messages(end, check.host).some(({ sent, received }) => received < check.began && answer.sent < sent);
    if (isKept && wasTold) this.fail(`received: ${what}`);
    if (!isHonest || !end.isClean || answer.sent > end.started) return;
    if (check.began > this.#told.byStore(end, check.host)) this.fail(`told: ${what}`);
    const asksStore = !check.isHit && !check.reused && !isStale && check.wasIdle && answer.host !== check.host;
    if (asksStore && check.began > end.settled) this.fail(`stored: ${what}`);
  }

  /**
   * At the end, every instance has been told of every end: by a message, or by a new subscription after it. What failed is repeated as long as it matters, so
   * that only an end whose time was over before the store worked again may have been told to no other.
   */
  judgeDelivery(hosts: readonly Host[]): void {
    const { lies, network, hasStore, settings, storeTimeoutMs } = this.#plan;
    const losses = [network.lostMessages, network.lostRequests, network.lostReplies, network.refused, network.slow];
    const isRepeated = losses.every((part) => part === 0) && 2 * network.mostMs < storeTimeoutMs;
    if (!hasStore || lies || !isRepeated) return;
    const mattersMs = settings.memory.ttlMs + settings.memory.staleIfErrorMs - REPEATED_WITHIN_MS;
    for (const end of this.ends) {
      if (!hosts.includes(end.host) || this.troubleUntilMs > end.startedAtMs + mattersMs || this.#wasIssued(end)) continue;
      for (const host of hosts) {
        const wasThere = host.startedAt < end.started && host !== end.host;
        if (wasThere && !this.#told.eventually(end, host))
          this.fail(`delivery: ${host.name} is never told of ${end.kind} on ${end.host.name} at #${end.started}`);
      }
    }
  }

  /** A sign-in removes the tombstones of before it, and none of a later sign-out on the same instance: commands of an instance arrive in their order. */
  #judgeCleared(host: Host, key: string): void {
    const { isOrdered, repeated } = this.#plan.network;
    if (!isOrdered || repeated > 0 || this.#plan.lies) return;
    for (const end of this.ends) {
      if (end.kind !== 'signOut' || end.host !== host || !end.isClean || this.#wasIssued(end)) continue;
      if (end.token !== undefined && keyInStore(end.token) === key)
        this.fail(`tombstone: that of the sign-out at #${end.started} is removed`);
    }
  }

  /** Whether a sign-in may have issued the token again. */
  #wasIssued({ token, started }: EndRecord): boolean {
    return this.signIns.some((signIn) => signIn.token === token && signIn.settled > started);
  }

  /** A session that is valid for longer than any refusal is cached is never refused. */
  #judgeRejection({ session, beganAtMs }: CheckRecord): void {
    const kept = this.#service.sessions.get(session.token);
    if (kept?.state !== 'valid' || kept.authIv !== session.authIv) return;
    const { memory, protection } = this.#plan.settings;
    const validForMs = beganAtMs - (this.#service.changedAtMs.get(session.token) ?? -Infinity);
    if (validForMs > memory.negativeTtlMs + protection.timeoutMs) this.fail(`worse off: ${session.token} was rejected while it was valid`);
  }

  #judgeOutage(check: CheckRecord, reason: string): void {
    if (!this.#plan.isServiceWell || check.blockedMs > 0) return;
    this.fail(`worse off: unavailable (${reason}) although the service answers`);
  }
}

function concerns(end: EndRecord, answer: Answer): boolean {
  if (end.kind === 'endAll') return true;
  return end.kind === 'endUser' ? end.username === answer.username : end.token === answer.token;
}
