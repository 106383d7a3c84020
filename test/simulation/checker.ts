import type { Verdict } from '../../libs/session-auth/src/contract/outcome.js';
import { isKeyOf, type Instance } from './instance.js';
import { isReliable, type Network, SLOW } from './network.js';
import type { CheckRecord, RevocationRecord, SignInRecord } from './records.js';
import { Deliveries } from './deliveries.js';
import type { Plan } from './plan.js';
import type { Answer, SimulatedService, User } from './service.js';
import type { Host } from './host.js';
import type { SimulatedStore } from './store.js';
import type { StoreLink } from './store-link.js';
import type { World } from './world.js';

/** Tolerance for rounding to whole milliseconds at both ends. */
const ROUNDING_MS = 3;
/** Failed writes are retried within this time after the store works again. */
const RETRIED_WITHIN_MS = 1_500;

/** Milliseconds within which a copy of a message arrives that another secret seals. */
const COPY_MS = 1_500;

/** The end of an instance that has closed. */
export interface Closing {
  readonly host: Host;
  readonly beganAtMs: number;
  /** Returns whether the caller or the log knows that a revocation was lost. */
  isReported(revocation: RevocationRecord): boolean;
}

/**
 * Compares the verdicts of the library with its documented bounds. The record of each user contains the
 * number of the service's answer that it comes from, so that the time of the call is known for each
 * authenticated check.
 *
 * The documented bound: a session is answered from a cache for `ttlMs` after its call was SENT; a check ends
 * within `timeoutMs`. A session that the service ended at a time E was authenticated by calls that were sent
 * before E, so that no check authenticates it after E + `ttlMs` + `timeoutMs` (+ `staleIfErrorMs` if set),
 * whatever the store does, as long as wall clocks are right or the store's lifetimes are honest. Revocations
 * through the library have stricter bounds:
 * - on the instance that was called, from the moment that its promise settles, whatever the store does;
 * - on another instance, from the moment that the message arrives, whatever the store does, unless it lies
 * about the time;
 * - on another instance also from the moment that it has subscribed again, or that it reads the tombstone in
 * the store, while the store is honest;
 * - on another instance without any of these, for all sessions that are not in its own cache, while the store
 * is honest. `forget` sets no tombstone: with a lying store, only the first bound holds for it.
 */
export class Checker {
  readonly #world: World;
  readonly #plan: Plan;
  readonly #service: SimulatedService;
  readonly #deliveries: Deliveries;
  /** End of the last fault of the store or its network. */
  troubleUntilMs = -Infinity;
  readonly revocations: RevocationRecord[] = [];
  readonly signIns: SignInRecord[] = [];
  readonly violations: string[] = [];
  checks = 0;
  accepted = 0;

  constructor(parts: { world: World; plan: Plan; service: SimulatedService; network: Network }) {
    this.#world = parts.world;
    this.#plan = parts.plan;
    this.#service = parts.service;
    this.#deliveries = new Deliveries(parts.network);
    parts.network.onCleared = (host, key) => this.#judgeCleared(host, key);
  }

  fail(violation: string): void {
    this.violations.push(violation);
    this.#world.trace(() => `VIOLATION: ${violation}`);
  }

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
    if (!reused && tookMs > timeoutMs + blockedMs + ROUNDING_MS)
      this.fail(`waits: a check took ${tookMs} ms`);
  }

  #judgeAcceptance(check: CheckRecord, user: User, isStale: boolean): void {
    this.accepted += 1;
    const answer = this.#service.answers[user.answer];
    const { token, authIv } = check.session;
    const isOwn = answer?.token === token && user.auth_token === token && answer.authIv === authIv;
    if (!isOwn || this.#service.nameOf(answer.username) !== user.username) {
      this.fail(`own user: ${user.username} was returned for ${token}`);
      return;
    }
    this.#judgeAge(check, answer, isStale);
    const names = [answer.username, user.username];
    for (const revocation of this.revocations)
      if (concerns(revocation, answer, names)) this.#judgeEnd(check, answer, revocation, isStale);
    this.#judgeMessages(check, answer, names);
  }

  #judgeAge(check: CheckRecord, { host, sentAtMs, sent, maxCacheMs }: Answer, isStale: boolean): void {
    const { settings } = this.#plan;
    const { ttlMs, staleIfErrorMs } = check.host.memory;
    const lifetimeMs = Math.min(ttlMs, maxCacheMs ?? Infinity) + (isStale ? staleIfErrorMs : 0);
    const waitMs = check.isHit ? 0 : settings.protection.timeoutMs + check.blockedMs;
    // How long a reply may be cached counts, on another instance, from when the store has it.
    const { slow, mostMs } = this.#plan.network;
    const writeMs = maxCacheMs !== undefined && host !== check.host ? mostMs * (slow > 0 ? SLOW : 1) : 0;
    const ageMs = (check.isHit ? check.beganAtMs : this.#world.nowMs) - sentAtMs;
    if (isStale && staleIfErrorMs === 0)
      this.fail('stale: a stale session was served without staleIfErrorMs');
    if (!check.reused && ageMs > lifetimeMs + waitMs + writeMs + ROUNDING_MS)
      this.fail(`lifetime: accepted ${ageMs.toFixed(1)} ms after the call`);
    if (check.maxAgeMs === Infinity) return;
    if (isStale) this.fail('freshness: a stale session satisfied maxAgeMs');
    const first = check.reused ?? check;
    if (check.maxAgeMs === 0 && sent < first.began)
      this.fail('freshness: maxAgeMs 0 was satisfied by an earlier call');
    if (sentAtMs < first.beganAtMs - check.maxAgeMs - ROUNDING_MS)
      this.fail('freshness: older than maxAgeMs');
  }

  #judgeEnd(check: CheckRecord, answer: Answer, revocation: RevocationRecord, isStale: boolean): void {
    if (answer.sent > revocation.settled || check.began < revocation.started) return;
    if (revocation.host !== check.host && (revocation.host.isForeign || check.host.isForeign)) return;
    const isBefore =
      answer.sent < revocation.started || (revocation.kind === 'signOut' && !this.#wasIssued(revocation));
    if (!isBefore) return;
    const what = `${revocation.kind} on ${revocation.host.name} at #${revocation.started}; ${check.host.name} accepts a call of #${answer.sent}`;
    const isHonest = this.#plan.lies === undefined;
    // A sign-in has removed the tombstone on this instance, and a lying store may restore an older entry.
    if (!isHonest && revocation.kind === 'signOut' && this.#wasIssued(revocation)) return;
    const isKept = revocation.kind !== 'forget' || isHonest;
    if (revocation.host === check.host) {
      if (check.began > revocation.settled && isKept) this.fail(`settled: ${what}`);
      return;
    }
    const wasReceived = this.#deliveries
      .messages(revocation, check.host)
      .some(({ sent, received }) => received < check.began && answer.sent < sent);
    // A message counts as one that was sent again if the store has a time long after.
    if (isKept && wasReceived && this.#plan.lies?.aboutTime !== true) this.fail(`received: ${what}`);
    if (!isHonest || !revocation.isClean || answer.sent > revocation.started) return;
    if (check.began > this.#deliveries.byStore(revocation, check.host)) this.fail(`learned: ${what}`);
    const asksStore =
      !check.isHit && !check.reused && !isStale && check.wasIdle && answer.host !== check.host;
    if (asksStore && check.began > revocation.settled) this.fail(`stored: ${what}`);
  }

  /** Checks that a refusal or an eviction on another instance has evicted older answers here. */
  #judgeMessages({ host, began, session }: CheckRecord, answer: Answer, names: readonly string[]): void {
    if (this.#plan.lies) return;
    const concerned = { token: session.token, names, sentAfter: answer.sent };
    for (const { host: sender, message, sent } of this.#deliveries.received(host, began, concerned)) {
      const isEviction = message.kind === 'refused' || message.kind === 'evicted';
      if (isEviction && sender !== host && sender.isForeign === host.isForeign)
        this.fail(
          `message: ${host.name} accepts a call of #${answer.sent} after the message '${message.kind}' of ${sender.name} at #${sent}`,
        );
    }
  }

  /**
   * Checks, at the end of a history, that every instance learned of every revocation: by a message, or by a
   * later subscription. Failed messages are retried for the lifetime of the revocation, so that only one that
   * expired before the store worked again may have reached no instance. An instance that has closed has
   * delivered its revocations, rejected their calls, or reported that they are lost.
   */
  judgeDelivery(hosts: readonly Host[], closings: readonly Closing[]): void {
    const { lies, network, hasStore, storeTimeoutMs } = this.#plan;
    const losses = [
      network.lostMessages,
      network.lostRequests,
      network.lostReplies,
      network.refused,
      network.slow,
    ];
    const isRepeated = losses.every((part) => part === 0) && 2 * network.mostMs < storeTimeoutMs;
    if (!hasStore || lies || !isRepeated || this.#deliveries.mayBeIgnored) return;
    for (const revocation of this.revocations) {
      const { host: sender, started, startedAtMs, kind } = revocation;
      const { ttlMs, staleIfErrorMs } = sender.memory;
      const mattersUntilMs = startedAtMs + ttlMs + staleIfErrorMs;
      const closing = closings.find(({ host }) => host === sender);
      if (closing ? closing.isReported(revocation) : !hosts.includes(sender)) continue;
      if (
        closing
          ? mattersUntilMs < closing.beganAtMs
          : this.troubleUntilMs > mattersUntilMs - RETRIED_WITHIN_MS
      )
        continue;
      for (const host of hosts) {
        const wasThere = host.startedAt < started && host !== sender && host.isForeign === sender.isForeign;
        if (wasThere && !this.#deliveries.eventually(revocation, host))
          this.fail(
            `${closing ? 'close' : 'delivery'}: ${host.name} never learns of ${kind} on ${sender.name} at #${started}`,
          );
      }
    }
  }

  /**
   * Checks that a sign-out has left its tombstone, also if a sign-in has removed it meanwhile: as soon as its
   * commands have arrived, unless there is any other reason for it to be missing.
   */
  judgeTombstone(end: RevocationRecord, link: StoreLink, store: SimulatedStore): void {
    const { network, lies, limits, features } = this.#plan;
    const settledAtMs = this.#world.nowMs;
    const isSure =
      isReliable(network) &&
      !lies &&
      !limits &&
      !features.includes('clocks') &&
      network.mostMs < end.host.memory.ttlMs / 10;
    if (!isSure) return;
    this.#world.after(2 * network.mostMs + 1, () => {
      const isIssued = this.signIns.some(
        (one) => one.token === end.token && one.settledAtMs > settledAtMs - network.mostMs - 1,
      );
      const wasDisturbed =
        this.troubleUntilMs > settledAtMs ||
        link.failures > 0 ||
        link.state !== 'works' ||
        end.host.blockedUntilMs > 0 ||
        !end.host.isAlive;
      if (isIssued || wasDisturbed || store.hasTombstone((key) => isKeyOf(end.token ?? '', key))) return;
      this.fail(`tombstone: that of the sign-out on ${end.host.name} at #${end.started} is missing`);
    });
  }

  /** Checks that an instance reports messages that none of its secrets opens. */
  judgeSilence({ host, link, reports }: Instance): void {
    const isDeaf = link !== undefined && link.unreadableAtMs < this.#world.nowMs - COPY_MS;
    if (host.isForeign && isDeaf && !reports.includes('unreadable'))
      this.fail(`silence: ${host.name} reports no message that it can't open`);
  }

  /**
   * Checks that a sign-in removes no tombstone of a later sign-out on the same instance: the commands of an
   * instance arrive in order.
   */
  #judgeCleared(host: Host, key: string): void {
    const { isOrdered, repeated } = this.#plan.network;
    if (!isOrdered || repeated > 0 || this.#plan.lies) return;
    for (const revocation of this.revocations) {
      if (
        revocation.kind !== 'signOut' ||
        revocation.host !== host ||
        !revocation.isClean ||
        this.#wasIssued(revocation)
      )
        continue;
      if (revocation.token !== undefined && isKeyOf(revocation.token, key))
        this.fail(`tombstone: that of the sign-out at #${revocation.started} is removed`);
    }
  }

  /** Returns whether a sign-in may have issued the token again. */
  #wasIssued({ token, started }: RevocationRecord): boolean {
    return this.signIns.some((signIn) => signIn.token === token && signIn.settled > started);
  }

  /** Checks that a session is not refused if it has been valid for longer than any refusal is cached. */
  #judgeRejection({ host, session, beganAtMs, blockedMs }: CheckRecord): void {
    const kept = this.#service.sessions.get(session.token);
    if (kept?.state !== 'valid' || kept.authIv !== session.authIv) return;
    const { protection } = this.#plan.settings;
    const validForMs = beganAtMs - (this.#service.changedAtMs.get(session.token) ?? -Infinity);
    if (validForMs > host.memory.negativeTtlMs + protection.timeoutMs + blockedMs)
      this.fail(`worse off: ${session.token} was rejected while it was valid`);
  }

  #judgeOutage(check: CheckRecord, reason: string): void {
    if (!this.#plan.isServiceWell || check.blockedMs > 0 || check.host.isClosing) return;
    this.fail(`worse off: unavailable (${reason}) although the service answers`);
  }
}

/** `names`: the name of the user, as the service and as the record spells it. */
function concerns(revocation: RevocationRecord, answer: Answer, names: readonly string[]): boolean {
  if (revocation.kind === 'forgetAll') return true;
  return revocation.kind === 'forgetUser'
    ? names.includes(revocation.username ?? '')
    : revocation.token === answer.token;
}
