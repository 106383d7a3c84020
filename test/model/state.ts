/** A set of revocations: bit n stands for revocation n. */
export type RevocationSet = number;

/** Revocations that a check must respect. */
export interface Revocations {
  /** It may accept no answer from before their end. */
  readonly known: RevocationSet;
  /** It may accept no answer from before their beginning. */
  readonly seen: RevocationSet;
}

/** An answer of the session service that authenticates a session. */
export interface Answer {
  /** Number of the answer in a trace; 0 in a search. */
  readonly id: number;
  readonly token: number;
  /** Time since its call was sent. */
  age: number;
  /** Revocations that were over when its call was sent. It may not be accepted where another revocation of its session is known. */
  readonly after: RevocationSet;
  /** Revocations that had begun when its call was sent. */
  readonly during: RevocationSet;
}

/** An entry of a session cache. Its age as the instance counts it may differ from its true age only if the instance is wrong. */
export interface Entry {
  readonly answer: Answer;
  countedAge: number;
}

/** Result of a look-up in the store. */
export type Found =
  | { readonly kind: 'none' }
  | { readonly kind: 'tombstone'; readonly shows: RevocationSet }
  | { readonly kind: 'value'; readonly answer: Answer; countedAge: number };

/** A single flight: first a look-up in the store, then a call to the service. */
export interface Flight {
  readonly token: number;
  age: number;
  phase: 'looking' | 'looked' | 'asking' | 'answered';
  found: Found;
  /** Revocations recorded in the store at the look-up; `undefined` if it did not answer. Without them, an answer is not stored. */
  since: RevocationSet | undefined;
  /** The call, as the answer that it would have. */
  call: Answer | undefined;
  reply: 'accepted' | 'refused' | 'failed';
  /** Evicted or replaced: its answer is not cached, stored or joined. */
  isDetached: boolean;
  /** No further check joins. */
  isClosed: boolean;
  /** Revocations that a check which waits for it must respect. */
  revocations: Revocations;
  /** Revocations that had settled without a fault when it began, which an answer from the store must respect too. */
  storeRevocations: RevocationSet;
}

/** A write of an answer to the store. */
export interface Write {
  readonly host: number;
  readonly answer: Answer;
  readonly since: RevocationSet;
  /** Whether the store has refused it, because of a tombstone; the reply is under way. */
  isRefused: boolean;
}

/** A command of a revocation, or of a sign-in (`clear`), to the store. */
export type Command =
  { readonly kind: 'tombstone' | 'record' | 'publish'; readonly revocation: number } | { readonly kind: 'clear'; readonly token: number };

/** An instance of the application. */
export interface Host {
  /** The answers that may be cached for each token. A real cache has at most one of them. */
  readonly cache: Entry[][];
  /** Age of the tombstone of each token. */
  readonly tombstones: (number | undefined)[];
  /** Time since each user was revoked here. */
  readonly userRevoked: (number | undefined)[];
  /** Time since each token was evicted by `forget`. */
  readonly tokenRevoked: (number | undefined)[];
  /** Time since messages may have been lost. */
  lost: number | undefined;
  flights: Flight[];
  /** Commands on their way to the store, in order. */
  queue: Command[];
  /** Failed commands, to be repeated (the outbox). */
  outbox: Command[];
  subscription: 'none' | 'confirming' | 'confirmed';
  /** Revocations that had settled when the subscription began. */
  covers: RevocationSet;
  /** Messages on their way to this instance: revocations. */
  inbox: number[];
  /** The answer that the guards of one request share. */
  request: Answer | undefined;
  /** Known: settled here, or received. */
  known: RevocationSet;
  /** Seen in the store: by a tombstone, or a new subscription. Counts for revocations that met no fault. */
  seen: RevocationSet;
  /** Silently lost on the way to this instance. */
  missed: RevocationSet;
}

/** A revocation that has begun. */
export interface Revocation {
  readonly kind: 'signOut' | 'forget' | 'forgetUser';
  readonly host: number;
  /** User of `forgetUser`, token of the others. */
  readonly target: number;
  /** `marking`: tombstone or record under way. `calling`, `called`: the service, for a sign-out. `gone`: its instance crashed before it settled. */
  phase: 'marking' | 'calling' | 'called' | 'publishing' | 'settled' | 'gone';
  /** Whether a command failed before it settled. */
  isDirty: boolean;
  /** Whether a sign-in issued the token again. */
  isVoid: boolean;
  /** Whether its instance crashed: its unsent messages are lost. */
  isOrphan: boolean;
}

/** The entry of the store under the key of a token. */
export type Kept =
  { readonly kind: 'value'; readonly answer: Answer; readonly since: RevocationSet } | { readonly kind: 'tombstone'; age: number };

/** How often something may happen in a search. */
export interface Budget {
  /** Checks that the cache does not answer and that join no flight. */
  flights: number;
  faults: number;
  signIns: number;
  ticks: number;
}

/** State of the fleet. */
export interface State {
  readonly hosts: Host[];
  readonly store: (Kept | undefined)[];
  /** Revocations recorded in the store. */
  records: RevocationSet;
  writes: Write[];
  /** Whether the session of each token is valid in the service. */
  readonly valid: boolean[];
  readonly revocations: Revocation[];
  /** The events that remain in a search. */
  readonly left: Budget;
  /** A promise that was broken. */
  violation: string | undefined;
}

/** Size and limits of a model. Times in ticks, or in milliseconds for traces. */
export interface Settings {
  readonly hosts: number;
  /** User of each token. */
  readonly users: readonly number[];
  readonly ttl: number;
  readonly stale: number;
  /** Longest duration of a flight. */
  readonly timeout: number;
  /** Whether the guards of one request share a check. */
  readonly requests: boolean;
  /** Tolerance for the comparison of ages. */
  readonly slack: number;
}

export function newHost({ users }: Settings): Host {
  const none = users.map(() => undefined);
  return {
    cache: users.map(() => []),
    tombstones: [...none],
    userRevoked: [...none],
    tokenRevoked: [...none],
    lost: undefined,
    flights: [],
    queue: [],
    outbox: [],
    subscription: 'none',
    covers: 0,
    inbox: [],
    request: undefined,
    known: 0,
    seen: 0,
    missed: 0,
  };
}

/** A flight that starts with a look-up, for a check that must respect these revocations. */
export function newFlight(token: number, revocations: Revocations, storeRevocations: RevocationSet): Flight {
  return {
    token,
    age: 0,
    phase: 'looking',
    found: { kind: 'none' },
    since: undefined,
    call: undefined,
    reply: 'failed',
    isDetached: false,
    isClosed: false,
    revocations,
    storeRevocations,
  };
}

/** All instances are subscribed, nothing is cached, and every session is valid. */
export function firstState(settings: Settings, budget: Budget): State {
  return {
    hosts: Array.from({ length: settings.hosts }, () => ({ ...newHost(settings), subscription: 'confirmed' as const })),
    store: settings.users.map(() => undefined),
    records: 0,
    writes: [],
    valid: settings.users.map(() => true),
    revocations: [],
    left: { ...budget },
    violation: undefined,
  };
}

export function bitOf(revocation: number): RevocationSet {
  return 1 << revocation;
}
