import type { SessionIdentity } from '../../libs/session-auth/src/contract/session-identity.js';
import type { SessionCheck } from '../../libs/session-auth/src/verifier/session-verifier.js';
import { Checker, type Closing } from './checker.js';
import type { CheckRecord, RevocationRecord } from './records.js';
import { Costs, EDGE_MS } from './costs.js';
import { Events } from './events.js';
import { openMessage, startInstance, type Instance, type LibraryEvent } from './instance.js';
import { Liar } from './liar.js';
import { Network } from './network.js';
import { planHistory, type Plan } from './plan.js';
import type { Step } from './steps.js';
import { Streams } from './random.js';
import { SimulatedService, type User } from './service.js';
import { SimulatedStore } from './store.js';
import { StoreLink } from './store-link.js';
import { useLimits } from './limits.js';
import { watchTimers } from './virtual-globals.js';
import type { Host } from './host.js';
import { World } from './world.js';

interface HistoryResult {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly kind: string;
  readonly checks: number;
  readonly accepted: number;
  readonly calls: number;
  readonly steps: number;
  readonly lines: readonly string[];
}

/** Virtual milliseconds within which all operations must settle after the last step. */
const SETTLING_MS = 5_000;
const AN_HOUR_MS = 3_600_000;
const MAX_TIMERS = 200;
/** Virtual milliseconds within which an instance closes: the rest of its checks, and of its deliveries. */
const MAX_CLOSE_MS = 7_000;

/** Plays the history of a seed, deterministically; with a trace, also returns its events. */
export async function playHistory(seed: number, isTraced: boolean): Promise<HistoryResult> {
  return new History(seed, isTraced).play();
}

class History {
  readonly #seed: number;
  readonly #world: World;
  readonly #plan: Plan;
  readonly #service: SimulatedService;
  readonly #store: SimulatedStore;
  readonly #network: Network;
  readonly #checker: Checker;
  readonly #events: Events;
  readonly #costs: Costs;
  readonly #instances: (Instance | undefined)[] = [];
  readonly #liar: Liar | undefined;
  readonly #closings: Closing[] = [];
  /** Pending operations, by host. */
  readonly #pending = new Map<object, Host>();
  /** Number of pending checks and calls, by host and token. */
  readonly #busy = new Map<string, number>();
  #starts = 0;

  constructor(seed: number, isTraced: boolean) {
    const streams = new Streams(seed);
    this.#seed = seed;
    this.#world = new World(streams.network, streams.library, isTraced);
    this.#plan = planHistory(streams.plan);
    const { lies, network: health } = this.#plan;
    this.#service = new SimulatedService(
      this.#world,
      streams.network,
      this.#plan.service,
      this.#plan.cacheForMs,
    );
    this.#store = new SimulatedStore(this.#world, this.#plan.storeClockMs);
    this.#liar = lies && new Liar(this.#store, streams.network, lies);
    const liar = this.#liar;
    this.#network = new Network({
      world: this.#world,
      store: this.#store,
      random: streams.network,
      health,
      liar,
      open: openMessage,
    });
    this.#checker = new Checker({
      world: this.#world,
      plan: this.#plan,
      service: this.#service,
      network: this.#network,
    });
    const { limits, record } = this.#plan;
    this.#events = new Events({
      world: this.#world,
      network: this.#network,
      checker: this.#checker,
      plan: this.#plan,
    });
    this.#costs = new Costs({ world: this.#world, plan: this.#plan, checker: this.#checker });
    this.#network.onHandled = (host, publication) => this.#events.judgeHandled(host, publication);
    // The store's clock has stepped: an instance may take a message for an old one until it has read the
    // clock.
    if (this.#plan.features.includes('clocks')) this.#network.handledMs = this.#plan.storeTimeoutMs + EDGE_MS;
    this.#service.nameOf = record.nameOf;
    useLimits(limits);
  }

  async play(): Promise<HistoryResult> {
    const { steps, hosts, sessions } = this.#plan;
    this.#world.trace(() => JSON.stringify({ ...this.#plan, steps: steps.length }));
    this.#service.onCall = (host, session) => this.#called(host, session);
    // While an instance closes, it delivers what is pending.
    watchTimers(() => {
      if (this.#world.host?.isClosing !== true) this.#checker.fail('timers: one keeps the process alive');
    });
    for (const { token, username, authIv, isValid } of sessions) {
      this.#service.sessions.set(token, { token, username, authIv, state: isValid ? 'valid' : 'ended' });
    }
    hosts.forEach(({ startsMs }, index) => this.#world.after(startsMs, () => this.#start(index)));
    for (const step of steps) this.#world.after(step.atMs, () => this.#do(step));
    const lastMs = Math.max(...steps.map(({ atMs }) => atMs));
    await this.#world.run(lastMs + SETTLING_MS);
    for (const host of new Set(this.#pending.values()))
      if (host.isAlive) this.#checker.fail(`waits: something on ${host.name} never settles`);
    const alive = this.#instances.flatMap((instance) => (instance?.host.isAlive ? [instance] : []));
    this.#checker.judgeDelivery(
      alive.filter(({ host }) => !host.isClosing).map(({ host }) => host),
      this.#closings,
    );
    for (const instance of alive) this.#checker.judgeSilence(instance);
    await this.#end();
    this.#costs.judgeCalls();
    const { violations, checks, accepted } = this.#checker;
    const { kind, features } = this.#plan;
    return {
      seed: this.#seed,
      violations,
      kind: [kind, ...features].join(' '),
      checks,
      accepted,
      calls: this.#costs.calls,
      steps: this.#world.steps,
      lines: this.#world.lines,
    };
  }

  /** Closes all instances. No event may be scheduled an hour of virtual time later. */
  async #end(): Promise<void> {
    for (const instance of this.#instances) {
      if (!instance) continue;
      instance.host.isClosing = true;
      this.#world.after(0, () => void instance.close(), instance.host);
    }
    await this.#world.run(this.#world.nowMs + AN_HOUR_MS);
    if (this.#world.pending > 0) this.#checker.fail('timers: some are left an hour after the end');
  }

  #start(index: number): void {
    const planned = this.#plan.hosts[index];
    if (!planned) return;
    this.#starts += 1;
    const restarts = this.#instances[index] ? `.${this.#starts}` : '';
    const host: Host = {
      name: `i${index}${restarts}`,
      index,
      isAlive: true,
      isClosing: false,
      memory: planned.memory,
      secrets: planned.secrets,
      isForeign: planned.isForeign,
      startedAt: this.#world.nextSequence(),
      startedAtMs: this.#world.nowMs - planned.uptimeMs,
      wallOffsetMs: planned.wallOffsetMs,
      blockedFromMs: 0,
      blockedUntilMs: 0,
      timers: 0,
    };
    this.#world.after(0, () => this.#build(host), host);
  }

  #build(host: Host): void {
    const { settings, hasStore, storeTimeoutMs } = this.#plan;
    const connectsMs = this.#plan.hosts[host.index]?.connectsMs ?? 0;
    const link = hasStore
      ? new StoreLink(host, this.#network, { timeoutMs: storeTimeoutMs, connectsMs })
      : undefined;
    const onEvent = (event: LibraryEvent): void => this.#events.emitted(host, event);
    this.#instances[host.index] = startInstance(host, { service: this.#service, link, settings, onEvent });
    this.#world.trace(() => `${host.name} starts`);
  }

  #do(step: Step): void {
    this.#world.trace(() => `plan: ${JSON.stringify(step)}`);
    switch (step.do) {
      case 'revoke':
        this.#change(step.session, 'ended');
        return;
      case 'block':
        this.#change(step.session, 'blocked');
        return;
      case 'unblock':
        this.#change(step.session, 'valid', 'blocked');
        return;
      case 'serviceIs':
        Object.assign(this.#service.health, step.health);
        this.#world.after(step.forMs, () => Object.assign(this.#service.health, this.#plan.service));
        return;
      case 'storeIs':
        this.#storeIs(step);
        return;
      case 'storeFull':
        this.#checker.troubleUntilMs = Math.max(this.#checker.troubleUntilMs, this.#world.nowMs + step.forMs);
        this.#store.isFull = true;
        this.#world.after(step.forMs, () => (this.#store.isFull = false));
        return;
      case 'lose':
        this.#liar?.lose();
        return;
      case 'forge':
        this.#network.forge();
        return;
      case 'replay':
        // With a store that is too slow, messages are new for as long as they are sent again.
        if (4 * this.#plan.network.mostMs < this.#plan.storeTimeoutMs) this.#network.replay();
        return;
      case 'storeJump':
        this.#store.clockOffsetMs += step.byMs;
        this.#network.steppedAtMs = this.#world.nowMs;
        for (const instance of this.#instances)
          if (instance && step.takesHosts) instance.host.wallOffsetMs += step.byMs;
        return;
      default: {
        const instance = this.#instances[step.host];
        if (instance?.host.isAlive && !instance.host.isClosing)
          this.#world.after(0, () => this.#onHost(instance, step), instance.host);
      }
    }
  }

  #onHost(instance: Instance, step: Extract<Step, { readonly host: number }>): void {
    const { host, link } = instance;
    switch (step.do) {
      case 'check':
        this.#request(instance, step);
        return;
      case 'signOut':
      case 'forget':
      case 'forgetUser':
      case 'forgetAll':
        this.#endSession(instance, step);
        return;
      case 'signIn':
        this.#signIn(instance, step.session);
        return;
      case 'crash':
        this.#crash(instance);
        return;
      case 'close':
        this.#close(instance, step.restartsMs);
        return;
      case 'suspend':
      case 'blockLoop':
        // The monotonic clock of a suspended machine stands.
        if (step.do === 'suspend') host.startedAtMs += step.forMs;
        if (host.blockedUntilMs < this.#world.nowMs) host.blockedFromMs = this.#world.nowMs;
        host.blockedUntilMs = Math.max(host.blockedUntilMs, this.#world.nowMs + step.forMs);
        this.#costs.blockedMs += step.forMs;
        return;
      case 'interrupt':
        this.#checker.troubleUntilMs = Math.max(
          this.#checker.troubleUntilMs,
          this.#world.nowMs + step.downMs,
        );
        link?.interrupt(step.noticedMs, step.downMs);
        return;
      case 'wallJump':
        host.wallOffsetMs += step.byMs;
        return;
    }
  }

  #request(instance: Instance, step: Extract<Step, { readonly do: 'check' }>): void {
    const session = this.#identity(step.session, step.hasWrongIv);
    const first = this.#check(instance, session, step.maxAgeMs);
    const { again } = step;
    if (!again) return;
    this.#world.after(
      again.afterMs,
      () => this.#check(instance, session, again.maxAgeMs, first),
      instance.host,
    );
  }

  #check(
    { host, verifier, link }: Instance,
    session: SessionIdentity,
    maxAgeMs: number,
    earlier?: { readonly check: SessionCheck<User>; readonly record: CheckRecord },
  ): { readonly check: SessionCheck<User>; readonly record: CheckRecord } {
    const [began, beganAtMs] = [this.#world.nextSequence(), this.#world.nowMs];
    this.#world.trace(
      () =>
        `${host.name} checks ${session.token} at #${began}${maxAgeMs === Infinity ? '' : ` with maxAgeMs ${maxAgeMs}`}`,
    );
    const name = `${host.name} ${session.token}`;
    const wasIdle = (this.#busy.get(name) ?? 0) === 0 && (link?.outstanding ?? 0) === 0;
    if (wasIdle && link) this.#costs.began(name, link);
    const check = verifier.check(session, maxAgeMs, earlier?.check);
    const reused = check === earlier?.check ? earlier.record : undefined;
    const isHit = !(check.verdict instanceof Promise);
    if (isHit || reused) this.#costs.answered(name);
    const record: CheckRecord = {
      host,
      session,
      maxAgeMs,
      began,
      beganAtMs,
      reused,
      isHit,
      wasIdle,
      blockedMs: this.#costs.blockedMs,
    };
    const judge = (verdict: Awaited<typeof check.verdict>): void => {
      record.blockedMs = this.#costs.blockedMs;
      this.#world.trace(
        () =>
          `${host.name} answers check #${began}: ${JSON.stringify(verdict)}${isHit ? ' from its cache' : ''}`,
      );
      this.#checker.judge(record, verdict);
      this.#costs.answered(name);
      // A request that began before a revocation opens no socket after it.
      const isCurrent = check.revocations === verifier.revoker.count;
      if (verdict.kind === 'authenticated' && isCurrent)
        this.#events.open(host, session.token, this.#namesOf(verdict.user));
    };
    if (check.verdict instanceof Promise) this.#follow(host, name, check.verdict.then(judge));
    else judge(check.verdict);
    return { check, record };
  }

  #endSession(
    { host, service, link }: Instance,
    step: Extract<Step, { readonly do: RevocationRecord['kind'] }>,
  ): void {
    const session = 'session' in step ? this.#identity(step.session) : undefined;
    const planned = step.do === 'forgetUser' ? this.#plan.sessions[step.session]?.username : undefined;
    const username =
      planned !== undefined && 'byRecord' in step && step.byRecord ? this.#service.nameOf(planned) : planned;
    const end: RevocationRecord = {
      kind: step.do,
      host,
      token: step.do === 'forgetUser' ? undefined : session?.token,
      username,
      started: this.#world.nextSequence(),
      startedAtMs: this.#world.nowMs,
      settled: Infinity,
      isClean: false,
      isRejected: false,
    };
    this.#checker.revocations.push(end);
    this.#world.trace(
      () => `${host.name} begins ${end.kind} ${end.username ?? end.token ?? ''} at #${end.started}`,
    );
    const settle = (): void => {
      end.settled = this.#world.nextSequence();
      end.isClean = link?.failures === 0;
      this.#world.trace(() => `${host.name} settles ${end.kind} of #${end.started} at #${end.settled}`);
      this.#judgeEndTime(end);
      if (end.kind === 'signOut' && link) this.#checker.judgeTombstone(end, link, this.#store);
    };
    const before = [this.#events.countOf(host, end.username), this.#events.countOf(host, undefined)] as const;
    const ended = this.#startEnd(service, end, session?.authIv);
    this.#events.judgeCall(end, before);
    const reject = (): void => {
      end.isRejected = end.kind !== 'signOut';
      settle();
    };
    this.#follow(host, `${host.name} ${end.kind}`, ended.then(settle, reject));
  }

  #startEnd(
    service: Instance['service'],
    { kind, token = '', username = '' }: RevocationRecord,
    authIv: string | undefined,
  ): Promise<void> {
    if (kind === 'forgetUser') return service.forgetUser(username);
    if (kind === 'forgetAll') return service.forgetAll();
    if (kind === 'forget') return service.forget(token);
    return service.signOut(token, authIv === undefined ? {} : { authIv });
  }

  #judgeEndTime({ kind, startedAtMs }: RevocationRecord): void {
    const { settings, storeTimeoutMs } = this.#plan;
    const limitMs =
      3 * storeTimeoutMs + (kind === 'signOut' ? settings.signOutTimeoutMs : 0) + this.#costs.blockedMs + 5;
    const tookMs = this.#world.nowMs - startedAtMs;
    if (tookMs > limitMs) this.#checker.fail(`waits: ${kind} took ${tookMs.toFixed(0)} ms`);
  }

  #signIn({ host, service }: Instance, index: number): void {
    const planned = this.#plan.sessions[index];
    if (!planned) return;
    const record = { token: planned.token, settled: Infinity, settledAtMs: Infinity };
    this.#checker.signIns.push(record);
    const signedIn = service.signIn({ username: planned.username, password: planned.token }).then(
      () => Object.assign(record, { settled: this.#world.nextSequence(), settledAtMs: this.#world.nowMs }),
      () => undefined,
    );
    this.#follow(host, `${host.name} signIn`, signedIn);
  }

  #crash({ host, link }: Instance): void {
    host.isAlive = false;
    link?.cut();
    this.#world.trace(() => `${host.name} crashes`);
    this.#world.after(this.#plan.storeTimeoutMs * 2, () => this.#start(host.index));
  }

  /** Shuts an instance down, as its application does. A new one may follow. */
  #close(instance: Instance, restartsMs: number | undefined): void {
    const { host, link, reports } = instance;
    host.isClosing = true;
    const beganAtMs = this.#world.nowMs;
    // The caller of one that has not settled knows of no success.
    const isReported = ({ isRejected, settled }: RevocationRecord): boolean =>
      isRejected || settled === Infinity || reports.includes('lost');
    this.#closings.push({ host, beganAtMs, isReported });
    this.#world.trace(() => `${host.name} closes`);
    const closed = instance.close().then(() => {
      const tookMs = this.#world.nowMs - beganAtMs;
      if (tookMs > MAX_CLOSE_MS + this.#costs.blockedMs)
        this.#checker.fail(`waits: ${host.name} took ${tookMs.toFixed(0)} ms to close`);
      host.isAlive = false;
      link?.cut();
      this.#world.trace(() => `${host.name} is closed`);
      if (restartsMs !== undefined) this.#world.after(restartsMs, () => this.#start(host.index));
    });
    this.#follow(host, `${host.name} close`, closed);
  }

  #storeIs({ host, state, forMs, interrupts }: Extract<Step, { readonly do: 'storeIs' }>): void {
    for (const instance of this.#instances) {
      const link = instance?.link;
      if (!link || (host !== 'all' && host !== instance.host.index)) continue;
      link.state = state;
      if (interrupts) link.interrupt(1, forMs + 1);
      this.#checker.troubleUntilMs = Math.max(this.#checker.troubleUntilMs, this.#world.nowMs + forMs);
      this.#world.after(forMs, () => (link.state = 'works'));
    }
  }

  #change(index: number, state: 'ended' | 'blocked' | 'valid', from?: 'blocked'): void {
    const session = this.#service.sessions.get(this.#plan.sessions[index]?.token ?? '');
    if (!session || (from && session.state !== from)) return;
    this.#service.change(session, state);
  }

  /** Checks that an operation on a host settles. */
  #follow(host: Host, name: string, work: Promise<unknown>): void {
    const key = {};
    this.#pending.set(key, host);
    const over = this.#begin(name);
    if (host.timers > MAX_TIMERS + this.#network.publications.length)
      this.#checker.fail(`timers: ${host.timers} are set on ${host.name}`);
    void work.then(() => {
      over();
      this.#pending.delete(key);
    });
  }

  #begin(name: string): () => void {
    this.#busy.set(name, (this.#busy.get(name) ?? 0) + 1);
    return () => void this.#busy.set(name, (this.#busy.get(name) ?? 0) - 1);
  }

  #called(host: Host, { token }: SessionIdentity): () => void {
    const name = `${host.name} ${token}`;
    const [answered, over] = [this.#costs.called(host, name), this.#begin(name)];
    return () => {
      answered();
      over();
    };
  }

  /** Returns the names of the user of a session: that of the service, and that of the record. */
  #namesOf({ auth_token, username }: User): readonly string[] {
    return [this.#service.sessions.get(auth_token)?.username ?? username, username];
  }

  #identity(index: number, hasWrongIv = false): SessionIdentity {
    const planned = this.#plan.sessions[index];
    if (!planned) throw new Error('The plan names a session that does not exist');
    return { token: planned.token, authIv: hasWrongIv ? 'iv-of-another' : planned.authIv };
  }
}
