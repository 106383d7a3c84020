import type { Answer, Command, Flight, Host, Kept, State } from './state.js';

const BUFFER = new Uint8Array(4_096);
const COMMANDS = ['tombstone', 'record', 'publish', 'clear'];
const PHASES = ['looking', 'looked', 'asking', 'answered'];
const REPLIES = ['accepted', 'refused', 'failed'];
const REVOCATION_PHASES = ['marking', 'calling', 'called', 'publishing', 'settled', 'gone'];
const KINDS = ['signOut', 'forget', 'forgetUser'];
const SUBSCRIPTIONS = ['none', 'confirming', 'confirmed'];

let at = 0;

/** The states that a search has visited, by a fingerprint of 53 bits. */
export class Fingerprints {
  readonly #seen = new Set<number>();

  get size(): number {
    return this.#seen.size;
  }

  /** Adds a state. Returns whether it is new. */
  add(state: State): boolean {
    const before = this.#seen.size;
    return this.#seen.add(fingerprintOf(state)).size > before;
  }
}

/** Copies a state, all of it or only one of its instances. */
export function copyOf(state: State, only?: number): State {
  return {
    ...state,
    hosts: state.hosts.map((host, index) => (only === undefined || only === index ? copyOfHost(host) : host)),
    store: state.store.map((kept) => kept && (kept.kind === 'value' ? { ...kept, answer: { ...kept.answer } } : { ...kept })),
    writes: state.writes.map((write) => ({ ...write, answer: { ...write.answer } })),
    valid: [...state.valid],
    revocations: state.revocations.map((revocation) => ({ ...revocation })),
    left: { ...state.left },
  };
}

function copyOfHost(host: Host): Host {
  return {
    ...host,
    cache: host.cache.map((entries) => entries.map(({ answer: cached, countedAge }) => ({ answer: { ...cached }, countedAge }))),
    tombstones: [...host.tombstones],
    userRevoked: [...host.userRevoked],
    tokenRevoked: [...host.tokenRevoked],
    flights: host.flights.map(copyOfFlight),
    queue: [...host.queue],
    outbox: [...host.outbox],
    inbox: [...host.inbox],
    request: host.request && { ...host.request },
  };
}

function copyOfFlight(flight: Flight): Flight {
  const { call, found } = flight;
  return {
    ...flight,
    call: call && { ...call },
    found: found.kind === 'value' ? { ...found, answer: { ...found.answer } } : found,
  };
}

function fingerprintOf(state: State): number {
  at = 0;
  for (const host of state.hosts) host_(host);
  for (const kept of state.store) kept_(kept);
  put(state.records);
  put(state.writes.length);
  for (const { host, answer: written, since, isRefused } of state.writes) {
    put(host * 2 + Number(isRefused));
    answer(written);
    put(since);
  }
  for (const valid of state.valid) put(Number(valid));
  put(state.revocations.length);
  for (const { kind, host, target, phase, isDirty, isVoid, isOrphan } of state.revocations) {
    put(KINDS.indexOf(kind) * 4 + host * 2 + target);
    put(REVOCATION_PHASES.indexOf(phase) * 8 + Number(isOrphan) * 4 + Number(isDirty) * 2 + Number(isVoid));
  }
  put(state.left.faults * 64 + state.left.signIns * 16 + state.left.flights);
  put(state.left.ticks);
  return hash();
}

function host_(host: Host): void {
  for (const entries of host.cache) {
    put(entries.length);
    for (const entry of entries) {
      answer(entry.answer);
      put(entry.countedAge);
    }
  }
  host.tombstones.forEach(optional);
  host.userRevoked.forEach(optional);
  host.tokenRevoked.forEach(optional);
  optional(host.lost);
  put(host.flights.length);
  for (const flight of host.flights) flight_(flight);
  for (const commands of [host.queue, host.outbox]) {
    put(commands.length);
    for (const command of commands) command_(command);
  }
  put(SUBSCRIPTIONS.indexOf(host.subscription));
  put(host.inbox.length);
  for (const revocation of [...host.inbox].sort()) put(revocation);
  answer(host.request);
  for (const revocations of [host.covers, host.known, host.seen, host.missed]) put(revocations);
}

function flight_({ token, age, phase, found, since, call, reply, isDetached, isClosed, revocations, storeRevocations }: Flight): void {
  put(token * 16 + PHASES.indexOf(phase) * 4 + REPLIES.indexOf(reply));
  put(age * 4 + Number(isDetached) * 2 + Number(isClosed));
  put(found.kind === 'none' ? 0 : found.kind === 'tombstone' ? 1 + found.shows : 128);
  if (found.kind === 'value') {
    answer(found.answer);
    put(found.countedAge);
  }
  optional(since);
  answer(call);
  put(revocations.known);
  put(revocations.seen);
  put(storeRevocations);
}

function kept_(kept: Kept | undefined): void {
  put(kept?.kind === 'value' ? 1 : kept ? 2 + kept.age : 0);
  if (kept?.kind !== 'value') return;
  answer(kept.answer);
  put(kept.since);
}

function command_(command: Command): void {
  put(COMMANDS.indexOf(command.kind) * 8 + (command.kind === 'clear' ? command.token : command.revocation));
}

function answer(one: Answer | undefined): void {
  if (!one) {
    put(255);
    return;
  }
  put(one.token * 32 + one.age);
  put(one.after * 16 + one.during);
}

function optional(value: number | undefined): void {
  put(value ?? 254);
}

function put(value: number): void {
  BUFFER[at] = value;
  at += 1;
}

/** Two FNV-1a hashes of 32 bits, joined to 53 bits. */
function hash(): number {
  let [one, other] = [0x811c9dc5, 0x01000193];
  for (let index = 0; index < at; index += 1) {
    const byte = BUFFER[index] ?? 0;
    one = Math.imul(one ^ byte, 0x01000193);
    other = Math.imul(other ^ (byte + 0x9e), 0x85ebca6b);
    other ^= other >>> 13;
  }
  return (one >>> 0) * 0x200000 + ((other ^ (other >>> 15)) & 0x1fffff);
}
