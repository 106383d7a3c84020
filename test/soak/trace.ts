import { Machine } from '../model/machine.js';
import { bitOf, firstState, newFlight, type Answer, type Revocations, type Revocation, type State } from '../model/state.js';
import { CLOCK_OFFSET_MS, markOf, type Evidence } from './evidence.js';
import { afterlifeMs, APPLICATIONS, cacheOf, isInFleet, RELAY_MS, type ApplicationName } from './settings.js';
import type { Violations } from './violations.js';

/** A session that an application accepted, by which answer of the service. */
export interface Acceptance {
  readonly application: ApplicationName;
  readonly token: string;
  readonly username: string | undefined;
  readonly evidence: Evidence;
  readonly sentAt: number;
  /** Whether the handler asks for a new answer. */
  readonly isFresh: boolean;
}

/** A revocation that an application has confirmed. */
export interface Ended {
  readonly kind: Revocation['kind'];
  readonly application: ApplicationName;
  /** A token; of `forgetUser`, a user. */
  readonly target: string;
  readonly username: string | undefined;
  readonly sentAt: number;
  readonly repliedAt: number;
}

/** Events of one time take place in this order, so that the model allows rather too much than too little. */
const RANKS = { begins: 0, called: 1, checked: 2, accepted: 3, settles: 4, received: 5 } as const;

interface Event {
  readonly at: number;
  readonly rank: number;
  readonly apply: (user: UserTrace) => void;
}

/** Events wait for all that came before them: an answer is known of only when a check has accepted it. */
const WAIT_MS = 20_000;
/** For the difference of the clocks of the processes, as this process measured it. */
const SLACK_MS = 50;
const NO_REVOCATIONS: Revocations = { known: 0, seen: 0 };
/** A set of revocations has 31 bits. */
const MAX_REVOCATIONS = 30;

/**
 * The life of the sessions of each user, as a trace of the model of the session cache (test/model): calls, by the time at which the service made
 * each answer; checks that were accepted, with the answer that each application shows; revocations, and their messages. A check that begins
 * after a revocation has settled, or its message is due, may accept no answer of an earlier call.
 */
export class Trace {
  readonly #violations: Violations;
  readonly #users = new Map<string, UserTrace>();
  readonly #events = new Map<string, Event[]>();
  acceptances = 0;
  revocations = 0;
  /** Acceptances that were not judged, because their answers, or the revocations before their checks, had been dropped. */
  unchecked = 0;
  #mostEvents = 0;

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  accepted({ application, token, username = '', evidence, sentAt, isFresh }: Acceptance): void {
    const { answer = 0, mark = 0 } = evidence;
    const calledAt = answer / 1_000 - CLOCK_OFFSET_MS;
    const check = { application, token, answer, mark, age: sentAt - calledAt, isFresh };
    let respected: Respected = { revocations: NO_REVOCATIONS, first: 0 };
    this.acceptances += 1;
    this.#add(username, { at: calledAt, rank: RANKS.called, apply: (user) => user.called(token, answer) });
    this.#add(username, { at: sentAt, rank: RANKS.checked, apply: (user) => (respected = user.respectedBy(application)) });
    this.#add(username, { at: Math.max(sentAt, calledAt), rank: RANKS.accepted, apply: (user) => user.accepted(check, respected) });
  }

  ended({ kind, application, target, username = '', sentAt, repliedAt }: Ended): void {
    let revocation = -1;
    this.revocations += 1;
    this.#add(username, { at: sentAt, rank: RANKS.begins, apply: (user) => (revocation = user.begins(kind, application, target)) });
    this.#add(username, { at: repliedAt, rank: RANKS.settles, apply: (user) => user.settles(revocation) });
    if (isInFleet(application))
      this.#add(username, { at: repliedAt + RELAY_MS, rank: RANKS.received, apply: (user) => user.received(revocation) });
  }

  /** Applies the events that have waited long enough, so that the rest stays bounded. */
  advance(now = performance.now()): void {
    this.#mostEvents = Math.max(this.#mostEvents, this.#waiting);
    for (const [username, events] of this.#events) {
      const due = events.filter(({ at }) => at < now - WAIT_MS).sort((one, other) => one.at - other.at || one.rank - other.rank);
      this.#events.set(
        username,
        events.filter(({ at }) => at >= now - WAIT_MS),
      );
      const user = this.#userOf(username);
      for (const { apply } of due) apply(user);
    }
  }

  /** Applies the remaining events. */
  end(): void {
    this.advance(Infinity);
    for (const { unchecked } of this.#users.values()) this.unchecked += unchecked;
  }

  toString(): string {
    return `${this.acceptances} acceptances, ${this.revocations} revocations; ${this.unchecked} unchecked, ${this.#mostEvents} events kept at most`;
  }

  get #waiting(): number {
    return [...this.#events.values()].reduce((sum, { length }) => sum + length, 0);
  }

  #add(username: string, event: Event): void {
    const events = this.#events.get(username);
    if (events) events.push(event);
    else this.#events.set(username, [event]);
  }

  #userOf(username: string): UserTrace {
    const known = this.#users.get(username);
    if (known) return known;
    const user = new UserTrace(username, this.#violations);
    this.#users.set(username, user);
    return user;
  }
}

interface Check {
  readonly application: ApplicationName;
  readonly token: string;
  readonly answer: number;
  readonly mark: number;
  /** Least time from the call of the answer to the decision. */
  readonly age: number;
  readonly isFresh: boolean;
}

/** Revocations that a check must respect, and the number of the first revocation of the state that they belong to. */
interface Respected {
  readonly revocations: Revocations;
  readonly first: number;
}

/** The trace of one user's sessions. */
class UserTrace {
  readonly #username: string;
  readonly #violations: Violations;
  #tokens: string[] = [];
  #answers = new Map<number, Answer>();
  #machine: Machine;
  #state: State;
  /** Number of the first revocation of the state. */
  #first = 0;
  unchecked = 0;

  constructor(username: string, violations: Violations) {
    this.#username = username;
    this.#violations = violations;
    [this.#machine, this.#state] = newModel();
  }

  called(token: string, answer: number): void {
    if (this.#answers.has(answer)) return;
    const flight = newFlight(this.#tokenOf(token), NO_REVOCATIONS, 0);
    this.#machine.ask(this.#state, flight);
    if (flight.call) this.#answers.set(answer, { ...flight.call, id: answer });
  }

  /** Returns the revocations that a check which begins now must respect. */
  respectedBy(application: ApplicationName): Respected {
    const host = this.#state.hosts[APPLICATIONS.indexOf(application)];
    return { revocations: host ? this.#machine.revocations(this.#state, host) : NO_REVOCATIONS, first: this.#first };
  }

  accepted({ application, token, answer: id, mark, age, isFresh }: Check, { revocations, first }: Respected): void {
    const answer = this.#answers.get(id);
    if (!answer || first !== this.#first) {
      this.unchecked += 1;
      return;
    }
    const cached = isInFleet(application) ? afterlifeMs(application) : cacheOf(application).ttlMs;
    const asked = { ...answer, age, token: mark === markOf(token) ? answer.token : -1 };
    this.#machine.accept(this.#state, this.#tokenOf(token), asked, { revocations, lifetime: isFresh ? 0 : cached });
    this.#judge(`${application}, ${this.#username}, answer of ${Math.round(age)} ms before the check`);
  }

  begins(kind: Revocation['kind'], application: ApplicationName, target: string): number {
    if (this.#state.revocations.length >= MAX_REVOCATIONS) this.#startOver();
    const index = kind === 'forgetUser' ? 0 : this.#tokenOf(target);
    const revocation = this.#machine.start(this.#state, APPLICATIONS.indexOf(application), kind, index);
    this.#clearQueues();
    return this.#first + revocation;
  }

  settles(number: number): void {
    this.#machine.settle(this.#state, number - this.#first);
    this.#clearQueues();
  }

  /** The message has reached the other instances of the fleet. */
  received(number: number): void {
    const index = number - this.#first;
    const revocation = this.#state.revocations[index];
    if (!revocation) return;
    this.#state.hosts.forEach((host, at) => {
      const name = APPLICATIONS[at];
      if (at === revocation.host || name === undefined || !isInFleet(name)) return;
      this.#machine.revoke(host, revocation.kind, revocation.target);
      host.known |= bitOf(index);
    });
  }

  /** Removes former revocations, and answers from before them, when the set of revocations is full. */
  #startOver(): void {
    this.#first += this.#state.revocations.length;
    this.#tokens = [];
    this.#answers = new Map();
    [this.#machine, this.#state] = newModel();
  }

  /** The commands to the store are not observed. */
  #clearQueues(): void {
    for (const host of this.#state.hosts) host.queue = [];
  }

  #tokenOf(token: string): number {
    const index = this.#tokens.indexOf(token);
    return index >= 0 ? index : this.#tokens.push(token) - 1;
  }

  #judge(example: string): void {
    const { violation } = this.#state;
    if (violation !== undefined)
      this.#violations.add(`the model allows no such acceptance: ${violation.replace(/\d+(\.\d+)?/g, 'n')}`, example);
    this.#state.violation = undefined;
  }
}

/** A model of all applications and of any number of tokens of one user. Ages are compared with the lifetime of each application. */
function newModel(): [Machine, State] {
  const settings = { hosts: APPLICATIONS.length, users: [], ttl: -1, stale: 0, timeout: 0, requests: false, slack: SLACK_MS };
  const state = firstState(settings, { flights: 0, faults: 0, signIns: 0, ticks: 0 });
  return [new Machine({ ...settings, users: new Proxy([], { get: () => 0 }) }), state];
}
