import {
  bitOf,
  newFlight,
  newHost,
  type Answer,
  type Revocations,
  type Command,
  type Revocation,
  type RevocationSet,
  type Entry,
  type Flight,
  type Host,
  type Kept,
  type Settings,
  type State,
  type Write,
} from './state.js';
import type { Bug } from './bugs.js';

/**
 * The rules of the session cache, as actions on a state. Each states the changes of one event, and no more: how the library arranges its code is
 * not part of it. A deliberate bug drops one rule.
 */
export class Machine {
  readonly #settings: Settings;
  readonly #bug: Bug | undefined;
  /** No answer, tombstone or revocation matters at this age. */
  readonly #longest: number;

  constructor(settings: Settings, bug?: Bug) {
    this.#settings = settings;
    this.#bug = bug;
    this.#longest = settings.ttl + settings.stale + settings.timeout;
  }

  // Checks

  /** Whether an entry of the cache may answer a check. */
  isUsable(host: Host, { answer, countedAge }: Entry, isStale = false): boolean {
    const { ttl, stale, slack } = this.#settings;
    if (countedAge >= ttl + (isStale ? stale : 0) + slack) return false;
    return (isStale && this.#bug === 'stale-revoked') || !this.#isRevoked(host, answer.token, countedAge);
  }

  /** A check is answered from the cache, without a call. */
  hit(state: State, host: Host, { answer }: Entry): void {
    this.accept(state, answer.token, answer, { revocations: this.revocations(state, host), lifetime: this.#settings.ttl });
    if (this.#settings.requests) host.request = { ...answer };
  }

  /** Another guard of the same request reuses the check. */
  reuse(state: State, host: Host): void {
    if (host.request)
      this.accept(state, host.request.token, host.request, { revocations: this.revocations(state, host), lifetime: Infinity });
  }

  /** The flight that a check of a session joins. */
  joinable(host: Host, token: number): Flight | undefined {
    return host.flights.find((flight) => flight.token === token && !flight.isDetached && !flight.isClosed);
  }

  /** A check joins a flight. */
  join(state: State, host: Host, flight: Flight): void {
    const { known, seen } = this.revocations(state, host);
    flight.revocations = { known: flight.revocations.known | known, seen: flight.revocations.seen | seen };
  }

  /** A check starts a flight, in the place of one that is no longer joined. Where the token has a tombstone, it does not ask the store. */
  begin(state: State, host: Host, token: number): Flight {
    const flight = newFlight(token, this.revocations(state, host), this.#cleanRevocations(state));
    for (const other of host.flights) if (other.token === token) other.isDetached = true;
    host.flights.push(flight);
    if (host.tombstones[token] !== undefined) this.ask(state, flight);
    return flight;
  }

  /** The store answers a look-up: with a value that no recorded revocation concerns, with a tombstone, or with nothing usable. */
  look(state: State, flight: Flight): void {
    const kept = state.store[flight.token];
    flight.phase = 'looked';
    flight.since = this.#bug === 'host-clock' ? -1 : state.records;
    if (kept?.kind === 'tombstone') flight.found = { kind: 'tombstone', shows: this.#signOutsOf(state, flight.token) };
    else if (kept && this.isReadable(state, kept)) {
      const countedAge = this.#bug === 'wall-clock-age' ? 0 : kept.answer.age;
      flight.found = { kind: 'value', answer: { ...kept.answer }, countedAge };
    }
  }

  /** The reply of the store arrives. Without a usable answer, the service is called. */
  read(state: State, host: Host, flight: Flight): void {
    const { found, token } = flight;
    if (found.kind === 'tombstone') this.foundTombstone(host, token, found.shows);
    if (found.kind !== 'value' || this.#isRevoked(host, token, found.countedAge) || isAfter(found.countedAge, host.tokenRevoked[token])) {
      this.ask(state, flight);
      return;
    }
    this.leave(host, flight);
    const { ttl, timeout } = this.#settings;
    this.accept(state, token, found.answer, {
      revocations: { known: flight.revocations.known, seen: flight.revocations.seen | flight.storeRevocations },
      lifetime: ttl + timeout,
    });
    this.#cache(host, flight, found.answer, found.countedAge);
  }

  /** A call to the service is sent. */
  ask(state: State, flight: Flight): void {
    flight.phase = 'asking';
    flight.found = { kind: 'none' };
    const { token } = flight;
    const concerning = revocationsWhere(state, (revocation) => this.#concerns(revocation, token));
    flight.call = { id: 0, token, age: 0, after: this.#pastRevocations(state) & concerning, during: concerning };
  }

  /** The service decides. */
  serve(state: State, flight: Flight): void {
    flight.phase = 'answered';
    flight.reply = state.valid[flight.token] ? 'accepted' : 'refused';
  }

  /** The response arrives: it is cached and stored, unless the flight was evicted or the user revoked since the call was sent. */
  reply(state: State, host: Host, flight: Flight): void {
    const { call, token, reply } = flight;
    this.leave(host, flight);
    if (reply === 'failed') this.#serveStale(state, host, flight);
    if (reply === 'refused' && !flight.isDetached) host.cache[token] = [];
    if (reply !== 'accepted' || !call) return;
    this.accept(state, token, call, { revocations: flight.revocations, lifetime: this.#settings.timeout });
    this.#store(state, host, flight, call);
    this.#cache(host, flight, call, this.#bug === 'lifetime-from-reply' ? 0 : flight.age);
  }

  /** A write reaches the store, which refuses it if there is a tombstone. */
  write(state: State, write: Write): void {
    const { token } = write.answer;
    if (state.store[token]?.kind === 'tombstone') {
      write.isRefused = true;
      return;
    }
    state.store[token] = { kind: 'value', answer: write.answer, since: write.since };
    state.writes = state.writes.filter((other) => other !== write);
  }

  /** The instance learns that the store refused its write. */
  refusedWrite(state: State, write: Write): void {
    state.writes = state.writes.filter((other) => other !== write);
    const host = state.hosts[write.host];
    if (host && this.#bug !== 'refused-write') this.foundTombstone(host, write.answer.token, 0);
    if (host) host.seen |= this.#signOutsOf(state, write.answer.token);
  }

  // Revocations

  /** `signOut`, `forget` or `forgetUser` is called. */
  start(state: State, hostIndex: number, kind: Revocation['kind'], target: number): number {
    const revocation =
      state.revocations.push({ kind, host: hostIndex, target, phase: 'marking', isDirty: false, isVoid: false, isOrphan: false }) - 1;
    const host = state.hosts[hostIndex];
    if (!host) return revocation;
    this.revoke(host, kind, target);
    host.queue.push({ kind: kind === 'signOut' ? 'tombstone' : 'record', revocation });
    return revocation;
  }

  /** The first command of an instance reaches the store, which executes it. */
  execute(state: State, host: Host, command: Command): void {
    host.queue = host.queue.filter((other) => other !== command);
    this.#apply(state, host, command);
    this.#attempted(state, host, command);
  }

  /** A command fails: it is not executed, or it is and the reply is lost. It is repeated later. */
  fail(state: State, host: Host, command: Command, isExecuted: boolean): void {
    host.queue = host.queue.filter((other) => other !== command);
    if (isExecuted) this.#apply(state, host, command);
    if (command.kind !== 'clear') {
      if (this.#bug !== 'no-retry') host.outbox.push(command);
      const revocation = state.revocations[command.revocation];
      if (revocation && revocation.phase !== 'settled') revocation.isDirty = true;
    }
    this.#attempted(state, host, command);
  }

  /** A failed command is sent again. */
  retry(host: Host, command: Command): void {
    host.outbox = host.outbox.filter((other) => other !== command);
    host.queue.push(command);
  }

  /** The service executes a sign-out, unless the call fails. */
  endAtService(state: State, revocation: Revocation, isExecuted: boolean): void {
    revocation.phase = 'called';
    if (isExecuted) state.valid[revocation.target] = false;
  }

  /** A sign-out settles: the session is revoked again, and the other instances receive the message. */
  settle(state: State, index: number): void {
    const revocation = state.revocations[index];
    const host = revocation && state.hosts[revocation.host];
    if (!revocation || !host) return;
    revocation.phase = 'settled';
    host.known |= bitOf(index);
    if (revocation.kind !== 'signOut') return;
    this.revoke(host, 'signOut', revocation.target);
    host.queue.push({ kind: 'tombstone', revocation: index }, { kind: 'publish', revocation: index });
  }

  /** A message arrives. */
  receive(state: State, host: Host, index: number): void {
    host.inbox.splice(host.inbox.indexOf(index), 1);
    const revocation = state.revocations[index];
    if (!revocation) return;
    if (this.#bug === 'late-detach' && revocation.kind === 'signOut') this.#evict(host, revocation.target, host.tombstones);
    else this.revoke(host, revocation.kind, revocation.target);
    host.known |= bitOf(index);
  }

  /** A sign-in issues a token again, and removes its tombstone. */
  signIn(state: State, host: Host, token: number): void {
    state.valid[token] = true;
    for (const revocation of state.revocations) if (revocation.kind === 'signOut' && revocation.target === token) revocation.isVoid = true;
    host.outbox = host.outbox.filter((command) => command.kind === 'clear' || !state.revocations[command.revocation]?.isVoid);
    this.#detach(host, token);
    host.tombstones[token] = undefined;
    host.queue.push({ kind: 'clear', token });
  }

  // Faults

  /** An instance loses its connection for messages. */
  interrupt(host: Host): void {
    host.subscription = 'none';
    host.inbox = [];
  }

  /** An instance subscribes again. */
  subscribe(state: State, host: Host): void {
    host.subscription = 'confirming';
    host.covers = revocationsWhere(state, ({ phase }) => phase === 'settled');
  }

  /** The subscription is confirmed. Messages may have been lost: every session is evicted, and no flight that has started is cached. */
  confirm(host: Host): void {
    host.subscription = 'confirmed';
    host.seen |= host.covers;
    host.covers = 0;
    if (this.#bug === 'resubscription') return;
    host.lost = 0;
    host.cache.forEach((_, token) => (host.cache[token] = []));
    for (const flight of host.flights) flight.isClosed = true;
    host.request = undefined;
  }

  /** A message is lost without notice. */
  lose(host: Host, index: number): void {
    host.inbox.splice(host.inbox.indexOf(index), 1);
    host.missed |= bitOf(index);
  }

  /** An instance crashes, and another starts in its place. */
  crash(state: State, index: number): void {
    state.hosts[index] = newHost(this.#settings);
    state.writes = state.writes.filter((write) => write.host !== index || !write.isRefused);
    for (const revocation of state.revocations) {
      if (revocation.host !== index) continue;
      revocation.isOrphan = true;
      if (revocation.phase !== 'settled') revocation.phase = 'gone';
    }
  }

  // Time

  /** Whether time may pass: a flight ends within its time. */
  mayPass(state: State): boolean {
    return state.hosts.every(({ flights }) => flights.every(({ age }) => age < this.#settings.timeout));
  }

  /** Time passes: ages grow, and expired entries are removed. */
  pass(state: State, time: number): void {
    const { ttl, stale, slack } = this.#settings;
    const longest = this.#longest;
    const older = (age: number | undefined): number | undefined => (age === undefined || age + time > longest ? undefined : age + time);
    const grow = (aged: Answer | undefined): void => {
      if (aged) aged.age = Math.min(aged.age + time, longest);
    };
    for (const host of state.hosts) {
      host.cache.forEach((entries, token) => {
        for (const entry of entries) {
          grow(entry.answer);
          entry.countedAge += time;
        }
        if (entries.length > 0) host.cache[token] = entries.filter(({ countedAge }) => countedAge < ttl + stale + slack);
      });
      host.tombstones.forEach((age, token) => {
        const grown = older(age);
        host.tombstones[token] = grown !== undefined && grown >= ttl + stale - slack ? undefined : grown;
      });
      for (const marks of [host.userRevoked, host.tokenRevoked]) marks.forEach((age, of) => (marks[of] = older(age)));
      host.lost = older(host.lost);
      for (const flight of host.flights) {
        flight.age += time;
        grow(flight.call);
        if (flight.found.kind !== 'value') continue;
        grow(flight.found.answer);
        flight.found.countedAge += time;
      }
    }
    for (const { answer } of state.writes) grow(answer);
    state.store.forEach((kept, token) => {
      if (kept?.kind === 'value') grow(kept.answer);
      else if (kept) kept.age += time;
      // A value may be kept for longer than a session: instances do not rely on its expiry in the store.
      if (kept && (kept.kind === 'value' ? kept.answer.age : kept.age) >= longest) state.store[token] = undefined;
    });
  }

  /** Every other instance learns of a revocation, or missed it by a fault. Checked in every state. */
  judgeDelivery(state: State): void {
    state.revocations.forEach((revocation, index) => {
      const origin = state.hosts[revocation.host];
      if (!origin || revocation.phase !== 'settled' || revocation.isVoid || revocation.isOrphan) return;
      const isPublish = (command: Command): boolean => command.kind === 'publish' && command.revocation === index;
      if ([...origin.queue, ...origin.outbox].some(isPublish)) return;
      state.hosts.forEach((host, at) => {
        if (at === revocation.host || host.subscription !== 'confirmed' || host.inbox.includes(index)) return;
        if (!((host.known | host.seen | host.missed) & bitOf(index))) state.violation ??= `delivery: instance ${at} never learns of it`;
      });
    });
  }

  // Invariants

  /** A session is accepted. This is where the promises are checked. */
  accept(
    state: State,
    token: number,
    answer: Answer,
    { revocations, lifetime }: { readonly revocations: Revocations; readonly lifetime: number },
  ): void {
    if (answer.token !== token) state.violation ??= 'own user: the answer belongs to another token';
    if (answer.age > lifetime + this.#settings.slack || (lifetime === this.#settings.ttl && answer.age >= lifetime + this.#settings.slack))
      state.violation ??= `lifetime: accepted at the age of ${answer.age}`;
    state.revocations.forEach((revocation, index) => {
      const ignored = ((revocations.known & ~answer.after) | (revocations.seen & ~answer.during)) & bitOf(index);
      if (ignored !== 0 && !revocation.isVoid && this.#concerns(revocation, token))
        state.violation ??= `revoked: accepted after ${revocation.kind}`;
    });
  }

  /** Revocations that an instance must respect from now on. */
  revocations(state: State, host: Host): Revocations {
    return { known: host.known, seen: host.seen & this.#cleanRevocations(state) };
  }

  #cleanRevocations(state: State): RevocationSet {
    return revocationsWhere(state, ({ phase, isDirty }) => phase === 'settled' && !isDirty);
  }

  /** A sign-out ends the session before it settles; the others make the next check ask the service from their start. */
  #pastRevocations(state: State): RevocationSet {
    return revocationsWhere(state, ({ kind, phase }) => kind !== 'signOut' || phase === 'settled');
  }

  #signOutsOf(state: State, token: number): RevocationSet {
    return revocationsWhere(state, ({ kind, target }) => kind === 'signOut' && target === token);
  }

  #concerns({ kind, target }: Revocation, token: number): boolean {
    return target === (kind === 'forgetUser' ? this.#settings.users[token] : token);
  }

  // Parts of the actions

  #serveStale(state: State, host: Host, { token, revocations }: Flight): void {
    const { ttl, stale } = this.#settings;
    for (const entry of host.cache[token] ?? [])
      if (this.isUsable(host, entry, true)) this.accept(state, token, entry.answer, { revocations, lifetime: ttl + stale });
  }

  /** Whether the user of an answer of this age is revoked here since. */
  #isRevoked(host: Host, token: number, age: number): boolean {
    return isAfter(age, host.userRevoked[this.#settings.users[token] ?? -1]);
  }

  /** An entry in the store is used while it is young, and no revocation was recorded since the look-up before its call. */
  isReadable(state: State, { answer, since }: Extract<Kept, { readonly kind: 'value' }>): boolean {
    const isYoung = this.#bug === 'wall-clock-age' || answer.age < this.#settings.ttl + this.#settings.slack;
    const isRevoked = state.revocations.some(
      (revocation, index) =>
        revocation.kind !== 'signOut' && (state.records & ~since & bitOf(index)) !== 0 && this.#concerns(revocation, answer.token),
    );
    return isYoung && !isRevoked;
  }

  #cache(host: Host, flight: Flight, answer: Answer, countedAge: number): void {
    const { token } = flight;
    if (flight.isDetached && this.#bug !== 'evicted-flight') return;
    if (host.tombstones[token] !== undefined || this.#isRevoked(host, token, countedAge)) return;
    if (isAfter(flight.age, host.lost)) return;
    const entries = host.cache[token] ?? [];
    const isSame = (entry: Entry): boolean =>
      entry.countedAge === countedAge && entry.answer.after === answer.after && entry.answer.during === answer.during;
    if (answer.id !== 0 || !entries.some(isSame)) entries.push({ answer: { ...answer }, countedAge });
  }

  #store(state: State, host: Host, { isDetached, since, token }: Flight, answer: Answer): void {
    if ((isDetached && this.#bug !== 'evicted-flight') || since === undefined || answer.age >= this.#settings.ttl) return;
    if (this.#isRevoked(host, token, answer.age) || isAfter(answer.age, host.tokenRevoked[token])) return;
    state.writes.push({ host: state.hosts.indexOf(host), answer: { ...answer }, since, isRefused: false });
  }

  /** A flight ends. */
  leave(host: Host, flight: Flight): void {
    host.flights = host.flights.filter((other) => other !== flight);
  }

  /** Sessions are revoked on one instance. */
  revoke(host: Host, kind: Revocation['kind'], target: number): void {
    if (this.#bug !== 'kept-request') host.request = undefined;
    if (kind !== 'forgetUser') {
      this.#detach(host, target);
      this.#evict(host, target, kind === 'signOut' ? host.tombstones : host.tokenRevoked);
      return;
    }
    host.userRevoked[target] = 0;
    if (this.#bug !== 'joined-after-forget') for (const flight of host.flights) flight.isClosed = true;
  }

  /** An instance learns that a token has a tombstone in the store. */
  foundTombstone(host: Host, token: number, shows: RevocationSet): void {
    host.seen |= shows;
    if (host.tombstones[token] === undefined) this.revoke(host, 'signOut', token);
    else this.#detach(host, token);
  }

  #detach(host: Host, token: number): void {
    for (const flight of host.flights) if (flight.token === token) flight.isDetached = true;
  }

  #evict(host: Host, token: number, marks: (number | undefined)[]): void {
    host.cache[token] = [];
    marks[token] = 0;
  }

  #apply(state: State, sender: Host, command: Command): void {
    if (command.kind === 'clear') {
      state.store[command.token] = undefined;
      // The store no longer shows another instance's sign-out that began after this sign-in; only its message does.
      for (const revocation of state.revocations)
        if (revocation.kind === 'signOut' && revocation.target === command.token && state.hosts[revocation.host] !== sender)
          revocation.isDirty = true;
      return;
    }
    const revocation = state.revocations[command.revocation];
    if (!revocation) return;
    if (command.kind === 'tombstone') state.store[revocation.target] = { kind: 'tombstone', age: 0 };
    else if (command.kind === 'record') state.records |= bitOf(command.revocation);
    else for (const host of state.hosts) if (host !== sender && host.subscription !== 'none') host.inbox.push(command.revocation);
  }

  /** A revocation continues after the first attempt of each command, with any result. */
  #attempted(state: State, host: Host, command: Command): void {
    const revocation = command.kind === 'clear' ? undefined : state.revocations[command.revocation];
    if (!revocation || command.kind === 'clear') return;
    if (revocation.phase === 'publishing') this.settle(state, command.revocation);
    if (revocation.phase !== 'marking') return;
    revocation.phase = revocation.kind === 'signOut' ? 'calling' : 'publishing';
    if (revocation.kind !== 'signOut') host.queue.push({ kind: 'publish', revocation: command.revocation });
  }
}

/** Whether a mark came after an answer of this age. A mark of the same time did. */
function isAfter(age: number, mark: number | undefined): boolean {
  return mark !== undefined && age >= mark;
}

function revocationsWhere({ revocations }: State, matches: (revocation: Revocation) => boolean): RevocationSet {
  return revocations.reduce((all, revocation, index) => (matches(revocation) ? all | bitOf(index) : all), 0);
}
