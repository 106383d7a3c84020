import type { SessionIdentity } from '../../libs/session-auth/src/contract/session-identity.js';
import type { SessionCheck } from '../../libs/session-auth/src/verifier/session-check.js';
import { Checker } from './checker.js';
import type { CheckRecord, RevocationRecord } from './records.js';
import { SECRET, startInstance, textOfMessage, type Instance } from './instance.js';
import { Liar } from './liar.js';
import { Network } from './network.js';
import { planHistory, type Plan, type Step } from './plan.js';
import { Streams } from './random.js';
import { SimulatedService, type User } from './service.js';
import { SimulatedStore } from './store.js';
import { StoreLink } from './store-link.js';
import { watchTimers } from './virtual-globals.js';
import type { Host } from './host.js';
import { Trace } from './trace.js';
import { World } from './world.js';

/** Result of a history. */
export interface HistoryResult {
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
/** Milliseconds around the end of a lifetime. */
const EDGE_MS = 10;

/** Options of a run. */
interface Extras {
  /** Print the events. */
  readonly isTraced: boolean;
  /** Follow it with the model. */
  readonly isFollowed: boolean;
}

/** Plays the history of a seed, deterministically. */
export async function playHistory(seed: number, extras: Extras): Promise<HistoryResult> {
  return new History(seed, extras).play();
}

class History {
  readonly #seed: number;
  readonly #world: World;
  readonly #plan: Plan;
  readonly #service: SimulatedService;
  readonly #store: SimulatedStore;
  readonly #network: Network;
  readonly #checker: Checker;
  readonly #trace: Trace | undefined;
  readonly #instances: (Instance | undefined)[] = [];
  readonly #liar: Liar | undefined;
  /** Pending operations, by host. */
  readonly #pending = new Map<object, Host>();
  /** Number of pending checks and calls, by host and token. */
  readonly #busy = new Map<string, number>();
  readonly #serviceCalls: { readonly token: string; readonly atMs: number; readonly host: Host }[] = [];
  #blockedMs = 0;
  #starts = 0;

  constructor(seed: number, { isTraced, isFollowed }: Extras) {
    const streams = new Streams(seed);
    this.#seed = seed;
    this.#world = new World(streams.network, streams.library, isTraced);
    this.#plan = planHistory(streams.plan);
    const { lies, network: health } = this.#plan;
    this.#service = new SimulatedService(this.#world, streams.network, this.#plan.service, this.#plan.cacheForMs);
    this.#store = new SimulatedStore(this.#world, this.#plan.storeClockMs);
    this.#liar = lies && new Liar(this.#store, streams.network, lies);
    const liar = this.#liar;
    this.#network = new Network({ world: this.#world, store: this.#store, random: streams.network, health, liar, textOf: textOfMessage });
    this.#checker = new Checker({ world: this.#world, plan: this.#plan, service: this.#service, network: this.#network });
    if (isFollowed) this.#trace = new Trace(this.#world, this.#plan, (violation) => this.#checker.fail(violation));
    this.#network.trace = this.#trace;
    this.#service.trace = this.#trace;
  }

  async play(): Promise<HistoryResult> {
    const { steps, hosts, sessions } = this.#plan;
    this.#world.trace(() => JSON.stringify({ ...this.#plan, steps: steps.length }));
    this.#service.onCall = (host, session) => this.#called(host, session);
    watchTimers(() => this.#checker.fail('timers: one keeps the process alive'));
    for (const { token, username, authIv, isValid } of sessions) {
      this.#service.sessions.set(token, { token, username, authIv, state: isValid ? 'valid' : 'ended' });
    }
    hosts.forEach((_, index) => this.#world.after(0, () => this.#start(index)));
    for (const step of steps) this.#world.after(step.atMs, () => this.#do(step));
    const lastMs = Math.max(...steps.map(({ atMs }) => atMs));
    await this.#world.run(lastMs + SETTLING_MS);
    for (const host of new Set(this.#pending.values()))
      if (host.isAlive) this.#checker.fail(`waits: something on ${host.name} never settles`);
    this.#checker.judgeDelivery(this.#instances.flatMap((instance) => (instance?.host.isAlive ? [instance.host] : [])));
    await this.#end();
    this.#judgeCalls();
    const { violations, checks, accepted } = this.#checker;
    const { kind } = this.#plan;
    return {
      seed: this.#seed,
      violations,
      kind,
      checks,
      accepted,
      calls: this.#serviceCalls.length,
      steps: this.#world.steps,
      lines: this.#world.lines,
    };
  }

  /** Closes all instances. No event may be scheduled an hour of virtual time later. */
  async #end(): Promise<void> {
    for (const instance of this.#instances) {
      if (!instance) continue;
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
      startedAt: this.#world.nextSequence(),
      startedAtMs: this.#world.nowMs - planned.uptimeMs,
      wallOffsetMs: planned.wallOffsetMs,
      blockedUntilMs: 0,
      timers: 0,
    };
    this.#world.after(0, () => this.#build(host), host);
  }

  #build(host: Host): void {
    const { settings, hasStore, storeTimeoutMs } = this.#plan;
    const link = hasStore ? new StoreLink(host, this.#network, { secret: SECRET, timeoutMs: storeTimeoutMs }) : undefined;
    this.#trace?.started(host);
    this.#instances[host.index] = startInstance(host, this.#service, link, settings);
    this.#world.trace(() => `${host.name} starts`);
  }

  #do(step: Step): void {
    this.#world.trace(() => `plan: ${JSON.stringify(step)}`);
    switch (step.do) {
      case 'revoke': {
        this.#change(step.session, 'ended');
        return;
      }
      case 'block': {
        this.#change(step.session, 'blocked');
        return;
      }
      case 'unblock': {
        this.#change(step.session, 'valid', 'blocked');
        return;
      }
      case 'serviceIs':
        Object.assign(this.#service.health, step.health);
        this.#world.after(step.forMs, () => Object.assign(this.#service.health, this.#plan.service));
        return;
      case 'storeIs': {
        this.#storeIs(step);
        return;
      }
      case 'storeFull':
        this.#checker.troubleUntilMs = Math.max(this.#checker.troubleUntilMs, this.#world.nowMs + step.forMs);
        this.#store.isFull = true;
        this.#world.after(step.forMs, () => (this.#store.isFull = false));
        return;
      case 'lose':
        this.#liar?.lose();
        return;
      case 'forge': {
        this.#network.forge();
        return;
      }
      default: {
        const instance = this.#instances[step.host];
        if (instance?.host.isAlive) this.#world.after(0, () => this.#onHost(instance, step), instance.host);
      }
    }
  }

  #onHost(instance: Instance, step: Extract<Step, { readonly host: number }>): void {
    const { host, link } = instance;
    switch (step.do) {
      case 'check': {
        this.#request(instance, step);
        return;
      }
      case 'signOut':
      case 'forget':
      case 'forgetUser':
      case 'forgetAll': {
        this.#endSession(instance, step);
        return;
      }
      case 'signIn': {
        this.#signIn(instance, step.session);
        return;
      }
      case 'crash': {
        this.#crash(instance);
        return;
      }
      case 'blockLoop':
        host.blockedUntilMs = Math.max(host.blockedUntilMs, this.#world.nowMs + step.forMs);
        this.#blockedMs += step.forMs;
        return;
      case 'interrupt':
        this.#checker.troubleUntilMs = Math.max(this.#checker.troubleUntilMs, this.#world.nowMs + step.downMs);
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
    this.#world.after(again.afterMs, () => this.#check(instance, session, again.maxAgeMs, first), instance.host);
  }

  #check(
    { host, verifier, link }: Instance,
    session: SessionIdentity,
    maxAgeMs: number,
    earlier?: { readonly check: SessionCheck<User>; readonly record: CheckRecord },
  ): { readonly check: SessionCheck<User>; readonly record: CheckRecord } {
    const [began, beganAtMs] = [this.#world.nextSequence(), this.#world.nowMs];
    this.#world.trace(
      () => `${host.name} checks ${session.token} at #${began}${maxAgeMs === Infinity ? '' : ` with maxAgeMs ${maxAgeMs}`}`,
    );
    const name = `${host.name} ${session.token}`;
    const wasIdle = (this.#busy.get(name) ?? 0) === 0 && (link?.outstanding ?? 0) === 0;
    const check = verifier.check(session, maxAgeMs, earlier?.check);
    const reused = check === earlier?.check ? earlier.record : undefined;
    const isHit = !(check.verdict instanceof Promise);
    const record: CheckRecord = { host, session, maxAgeMs, began, beganAtMs, reused, isHit, wasIdle, blockedMs: this.#blockedMs };
    this.#trace?.checked(record, check.verdict instanceof Promise ? undefined : check.verdict);
    const judge = (verdict: Awaited<typeof check.verdict>): void => {
      record.blockedMs = this.#blockedMs;
      this.#world.trace(() => `${host.name} answers check #${began}: ${JSON.stringify(verdict)}${isHit ? ' from its cache' : ''}`);
      this.#trace?.answered(record, verdict);
      this.#checker.judge(record, verdict);
    };
    if (check.verdict instanceof Promise) this.#follow(host, name, check.verdict.then(judge));
    else judge(check.verdict);
    return { check, record };
  }

  #endSession({ host, service, link }: Instance, step: Extract<Step, { readonly do: RevocationRecord['kind'] }>): void {
    const session = 'session' in step ? this.#identity(step.session) : undefined;
    const username = step.do === 'forgetUser' ? this.#plan.sessions[step.session]?.username : undefined;
    const end: RevocationRecord = {
      kind: step.do,
      host,
      token: step.do === 'forgetUser' ? undefined : session?.token,
      username,
      started: this.#world.nextSequence(),
      startedAtMs: this.#world.nowMs,
      settled: Infinity,
      isClean: false,
    };
    this.#checker.revocations.push(end);
    this.#trace?.ending(end);
    this.#world.trace(() => `${host.name} begins ${end.kind} ${end.username ?? end.token ?? ''} at #${end.started}`);
    const settle = (): void => {
      end.settled = this.#world.nextSequence();
      end.isClean = link?.failures === 0;
      this.#world.trace(() => `${host.name} settles ${end.kind} of #${end.started} at #${end.settled}`);
      this.#trace?.ended(end);
      this.#judgeEndTime(end);
    };
    const ended = this.#startEnd(service, end, session?.authIv);
    this.#follow(host, `${host.name} ${end.kind}`, ended.then(settle, settle));
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
    const limitMs = 3 * storeTimeoutMs + (kind === 'signOut' ? settings.signOutTimeoutMs : 0) + this.#blockedMs + 5;
    const tookMs = this.#world.nowMs - startedAtMs;
    if (tookMs > limitMs) this.#checker.fail(`waits: ${kind} took ${tookMs.toFixed(0)} ms`);
  }

  #signIn({ host, service }: Instance, index: number): void {
    const planned = this.#plan.sessions[index];
    if (!planned) return;
    const record = { token: planned.token, settled: Infinity };
    this.#checker.signIns.push(record);
    const signedIn = service.signIn({ username: planned.username, password: planned.token }).then(
      () => (record.settled = this.#world.nextSequence()),
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
    if (host.timers > MAX_TIMERS) this.#checker.fail(`timers: ${host.timers} are set on ${host.name}`);
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
    this.#serviceCalls.push({ token, atMs: this.#world.nowMs, host });
    return this.#begin(`${host.name} ${token}`);
  }

  /**
   * Checks that, without faults and revocations, the instances make one call per lifetime. Two exceptions: a session may expire during its
   * refresh, and a session that expires in the store during a look-up leaves the look-up without a lease.
   */
  #judgeCalls(): void {
    if (this.#plan.kind !== 'calm') return;
    const { ttlMs, refreshAheadMs } = this.#plan.settings.memory;
    let [periodMs, isSecond] = [-Infinity, false];
    for (const { atMs, host } of this.#serviceCalls.slice(0, refreshAheadMs > 0 ? 2 : undefined)) {
      const sinceMs = atMs - periodMs;
      const wasEdge = sinceMs >= ttlMs - refreshAheadMs - EDGE_MS;
      if (!wasEdge && !isSecond) this.#checker.fail(`calls: ${host.name} asks ${sinceMs.toFixed(1)} ms after the last call`);
      isSecond = wasEdge && sinceMs < ttlMs + EDGE_MS;
      periodMs = atMs;
    }
  }

  #identity(index: number, hasWrongIv = false): SessionIdentity {
    const planned = this.#plan.sessions[index];
    if (!planned) throw new Error('The plan names a session that does not exist');
    return { token: planned.token, authIv: hasWrongIv ? 'iv-of-another' : planned.authIv };
  }
}
