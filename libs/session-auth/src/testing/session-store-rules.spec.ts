import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import {
  SessionStore,
  type StoreEntry,
  type StoreLease,
  type StoreSubscriber,
} from '../contract/session-store.js';
import { SESSION_STORE_RULES } from './session-store-rules.js';

type Entry = { endMs: number } & (
  | { kind: 'value'; value: Uint8Array }
  | { kind: 'tombstone' }
  | { kind: 'leased'; lease: StoreLease; graceEndMs: number }
);

/** A moment passes whenever a rule looks at the clock, as it does while it waits. */
const STEP_MS = 250;
let nowMs = 1_000;
beforeAll(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += STEP_MS));
});
afterAll(() => {
  jest.restoreAllMocks();
});

/** The state that the instances of a store share. */
class Server {
  readonly entries = new Map<string, Entry>();
  readonly revocations = new Map<string, { atMs: number; endMs: number }>();
  readonly holders = new Map<string, number>();
  readonly subscribers = new Set<StoreSubscriber>();
}

/** A store as simple as the rules allow. A fault replaces one of its methods. */
class MemoryStore extends SessionStore {
  constructor(readonly server: Server) {
    super();
  }

  get(key: string, lease?: StoreLease): Promise<StoreEntry> {
    return Promise.resolve(this.look(key, lease));
  }

  look(key: string, lease?: StoreLease): StoreEntry {
    const entry = this.find(key);
    if (entry?.kind === 'value')
      return { kind: 'value', value: entry.value, remainingMs: entry.endMs - nowMs, storeTimeMs: nowMs };
    if (entry?.kind === 'leased') return { kind: 'leased', lease: entry.lease.id, storeTimeMs: nowMs };
    if (entry) return { kind: 'tombstone', storeTimeMs: nowMs };
    if (lease) this.grant(key, lease);
    return { kind: 'none', storeTimeMs: nowMs };
  }

  grant(key: string, lease: StoreLease): void {
    const [endMs, graceEndMs] = [nowMs + lease.ttlMs, nowMs + lease.graceMs];
    this.server.entries.set(key, { kind: 'leased', lease, endMs, graceEndMs });
  }

  find(key: string): Entry | undefined {
    const entry = this.server.entries.get(key);
    if (!entry || entry.endMs <= nowMs) return undefined;
    return entry.kind === 'leased' && this.isAbandoned(entry) ? undefined : entry;
  }

  isAbandoned({ lease, graceEndMs }: Entry & { kind: 'leased' }): boolean {
    return graceEndMs <= nowMs && (this.server.holders.get(lease.holder) ?? 0) <= nowMs;
  }

  set(key: string, value: Uint8Array, ttlMs: number): Promise<boolean> {
    const isFree = this.find(key)?.kind !== 'tombstone';
    if (isFree) this.server.entries.set(key, { kind: 'value', value, endMs: nowMs + ttlMs });
    return Promise.resolve(isFree);
  }

  delete(key: string): Promise<boolean> {
    const kind = this.find(key)?.kind;
    if (kind !== 'tombstone') this.server.entries.delete(key);
    return Promise.resolve(kind === 'value');
  }

  releaseLease(key: string, id: string): Promise<void> {
    const entry = this.find(key);
    if (entry?.kind === 'leased' && entry.lease.id === id) this.server.entries.delete(key);
    return Promise.resolve();
  }

  keepAlive(holder: string, ttlMs: number): Promise<void> {
    this.server.holders.set(holder, nowMs + ttlMs);
    return Promise.resolve();
  }

  setTombstone(key: string, ttlMs: number): Promise<void> {
    this.server.entries.set(key, { kind: 'tombstone', endMs: nowMs + ttlMs });
    return Promise.resolve();
  }

  clearTombstone(key: string): Promise<void> {
    if (this.find(key)?.kind === 'tombstone') this.server.entries.delete(key);
    return Promise.resolve();
  }

  setRevocation(key: string, ttlMs: number): Promise<void> {
    this.server.revocations.set(key, { atMs: nowMs, endMs: nowMs + ttlMs });
    return Promise.resolve();
  }

  getRevocations(keys: readonly string[]): Promise<(number | undefined)[]> {
    const found = keys.map((key) => this.server.revocations.get(key));
    return Promise.resolve(found.map((one) => (one && one.endMs > nowMs ? one.atMs : undefined)));
  }

  publish(message: Uint8Array): Promise<void> {
    for (const subscriber of this.server.subscribers) subscriber.message(message);
    return Promise.resolve();
  }

  subscribe(subscriber: StoreSubscriber): () => Promise<void> {
    this.server.subscribers.add(subscriber);
    subscriber.subscribed();
    return () => Promise.resolve(void this.server.subscribers.delete(subscriber));
  }
}

/** Returns the names of the rules that a store breaks. */
async function brokenBy(faults: object, server = new Server()): Promise<string[]> {
  const instance = (): MemoryStore => Object.assign(new MemoryStore(server), faults);
  const broken: string[] = [];
  for (const { name, check } of SESSION_STORE_RULES)
    await check(instance(), instance()).catch(() => broken.push(name));
  return broken;
}

const { prototype: right } = MemoryStore;
const FAR_MS = 1e9;
const LATE_MS = 4 * STEP_MS;
let subscriptions = 0;

/** Calls `look` at a time when what has just expired is still there. */
function late<Result>(look: () => Result): Result {
  nowMs -= LATE_MS;
  const found = look();
  nowMs += LATE_MS;
  return found;
}

/** Delivers a message to one subscriber after the other. */
function deliver(message: Uint8Array, subscribers: readonly StoreSubscriber[]): Promise<void> {
  for (const [index, subscriber] of subscribers.entries())
    setTimeout(() => subscriber.message(message), 5 * (index + 1));
  return nothing();
}

it.each<[speed: string, Fault]>([
  ['as simple as the rules allow', {}],
  [
    'that subscribes, delivers and deletes as late as the rules allow',
    {
      find(key) {
        const look = (): Entry | undefined => right.find.call(this, key);
        return raw(this, key)?.kind === 'leased' ? look() : late(look);
      },
      getRevocations(keys) {
        return late(() => right.getRevocations.call(this, keys));
      },
      publish(message) {
        return deliver(message, [...this.server.subscribers]);
      },
      subscribe(subscriber) {
        let stop = nothing;
        setTimeout(() => (stop = right.subscribe.call(this, subscriber)), 5 * (subscriptions += 1));
        return () => stop();
      },
    },
  ],
])('are kept by a store %s, which they leave without a subscriber', async (_speed, faults) => {
  const server = new Server();
  expect(await brokenBy(faults, server)).toEqual([]);
  expect(server.subscribers.size).toBe(0);
});

/** Returns a store that looks at some entries in another way. */
function looking(
  change: (found: Entry | undefined, key: string, store: MemoryStore) => Entry | undefined,
): Fault {
  return {
    find(key) {
      return change(right.find.call(this, key), key, this);
    },
  };
}

/** Returns a store whose look-ups find something else. */
function seeing(change: (entry: StoreEntry) => object | false): Fault {
  return {
    get(key, lease) {
      return right.get.call(this, key, lease).then((entry) => ({ ...entry, ...change(entry) }));
    },
  };
}

/** Returns a store that returns something else from `set` or `delete`, or does nothing. */
function setting(
  set: (store: MemoryStore, ...parts: Parameters<MemoryStore['set']>) => Promise<boolean>,
): Fault {
  return {
    set(...parts) {
      return set(this, ...parts);
    },
  };
}

function deleting(isDeleted: (kind: string | undefined, isRight: boolean) => boolean): Fault {
  return {
    async delete(key) {
      const kind = this.find(key)?.kind;
      return isDeleted(kind, await right.delete.call(this, key));
    },
  };
}

type Fault = Partial<MemoryStore> & ThisType<MemoryStore>;
const raw = (store: MemoryStore, key: string): Entry | undefined => store.server.entries.get(key);
const nothing = (): Promise<void> => Promise.resolve();

it.each<[fault: string, rule: string, Fault]>([
  [
    'takes a lease that no caller passed',
    'has no entry for a new key',
    {
      look(key, lease = { id: 'id', holder: 'holder', ttlMs: FAR_MS, graceMs: FAR_MS }) {
        return right.look.call(this, key, lease);
      },
    },
  ],
  ...['leased', 'value'].map((kind): [string, string, Fault] => [
    `sets nothing over an entry of the kind ${kind}`,
    'sets any bytes over a lease',
    setting((store, ...parts) =>
      store.find(parts[0])?.kind === kind ? Promise.resolve(true) : right.set.call(store, ...parts),
    ),
  ]),
  [
    'keeps text instead of bytes',
    'sets any bytes over a lease',
    setting((store, key, value, ttlMs) =>
      right.set.call(store, key, Buffer.from(Buffer.from(value).toString()), ttlMs),
    ),
  ],
  [
    'keeps a value too long',
    'sets any bytes over a lease',
    setting((store, key, value, ttlMs) => right.set.call(store, key, value, 2 * ttlMs)),
  ],
  [
    'keeps a value too short a time',
    'sets any bytes over a lease',
    setting((store, key, value, ttlMs) => right.set.call(store, key, value, ttlMs / 2)),
  ],
  [
    'keeps an expired value',
    'sets any bytes over a lease',
    looking((found, key, store) => {
      const entry = raw(store, key);
      return entry?.kind === 'value' ? entry : found;
    }),
  ],
  [
    'counts a deletion of nothing',
    'deletes a value or a lease',
    deleting((kind, isRight) => isRight || kind === undefined),
  ],
  [
    'counts a deleted lease',
    'deletes a value or a lease',
    deleting((kind, isRight) => isRight || kind === 'leased'),
  ],
  ['counts no deleted value', 'deletes a value or a lease', deleting(() => false)],
  [
    'keeps a lease that is deleted',
    'deletes a value or a lease',
    {
      delete(key) {
        return this.find(key)?.kind === 'leased' ? Promise.resolve(false) : right.delete.call(this, key);
      },
    },
  ],
  [
    'sets a value over a tombstone',
    'sets nothing over a tombstone',
    setting((store, key, value, ttlMs) => {
      store.server.entries.delete(key);
      return right.set.call(store, key, value, ttlMs);
    }),
  ],
  [
    'says that it has set a value over a tombstone',
    'sets nothing over a tombstone',
    setting((...parts) => right.set.call(...parts).then(() => true)),
  ],
  [
    'counts a deleted tombstone',
    'sets nothing over a tombstone',
    deleting((kind, isRight) => isRight || kind === 'tombstone'),
  ],
  [
    'deletes a tombstone',
    'sets nothing over a tombstone',
    {
      delete(key) {
        const isValue = this.find(key)?.kind === 'value';
        this.server.entries.delete(key);
        return Promise.resolve(isValue);
      },
    },
  ],
  [
    'releases a tombstone',
    'sets nothing over a tombstone',
    {
      releaseLease(key, id) {
        if (this.find(key)?.kind === 'tombstone') this.server.entries.delete(key);
        return right.releaseLease.call(this, key, id);
      },
    },
  ],
  ...['leased', 'value', undefined].map((kind): [string, string, Fault] => [
    `sets no tombstone over ${kind === 'leased' ? 'a lease' : kind ? 'a value' : 'nothing'}`,
    'sets nothing over a tombstone',
    {
      setTombstone(key, ttlMs) {
        return this.find(key)?.kind === kind ? nothing() : right.setTombstone.call(this, key, ttlMs);
      },
    },
  ]),
  [
    'keeps an expired tombstone',
    'lets a tombstone expire',
    looking((found, key, store) => {
      const entry = raw(store, key);
      return entry?.kind === 'tombstone' ? entry : found;
    }),
  ],
  ['clears no tombstone', 'lets a tombstone expire', { clearTombstone: nothing }],
  [
    'returns another id of a lease',
    'grants the lease to one of many',
    seeing(({ kind }) => kind === 'leased' && { lease: 'id' }),
  ],
  [
    'releases a lease by any id',
    'releases a lease only by its own id',
    {
      releaseLease(key) {
        const entry = this.find(key);
        return entry?.kind === 'leased' ? right.releaseLease.call(this, key, entry.lease.id) : nothing();
      },
    },
  ],
  [
    'releases a lease by the beginning of its id',
    'releases a lease only by its own id',
    {
      releaseLease(key, id) {
        const entry = this.find(key);
        const isStart = entry?.kind === 'leased' && entry.lease.id.startsWith(id);
        return isStart ? right.releaseLease.call(this, key, entry.lease.id) : nothing();
      },
    },
  ],
  [
    'deletes the value of a lease that is released',
    'releases a lease only by its own id',
    {
      releaseLease(key, id) {
        if (this.find(key)?.kind === 'value') this.server.entries.delete(key);
        return right.releaseLease.call(this, key, id);
      },
    },
  ],
  ['releases no lease', 'releases a lease only by its own id', { releaseLease: nothing }],
  [
    'keeps the lease of a holder that is alive',
    'ends a lease after its time',
    looking((found, key, store) => {
      const entry = raw(store, key);
      const isAlive = entry?.kind === 'leased' && (store.server.holders.get(entry.lease.holder) ?? 0) > nowMs;
      return isAlive ? entry : found;
    }),
  ],
  [
    'ends a lease without a heartbeat',
    'keeps a lease during its grace period',
    {
      isAbandoned({ lease }) {
        return !this.server.holders.has(lease.holder);
      },
    },
  ],
  [
    'ends a lease after its grace period, although its holder is alive',
    'keeps a lease after its grace period',
    { isAbandoned: ({ graceEndMs }) => graceEndMs <= nowMs },
  ],
  [
    'keeps a holder alive too long',
    'keeps a lease after its grace period',
    {
      keepAlive(holder) {
        return right.keepAlive.call(this, holder, FAR_MS);
      },
    },
  ],
  [
    'grants no lease that has ended',
    'ends a lease after its grace period',
    {
      grant(key, lease) {
        if (!raw(this, key)) right.grant.call(this, key, lease);
      },
    },
  ],
  [
    'grants a lease that has ended to every caller',
    'grants an ended lease to exactly one',
    {
      grant(key, lease) {
        if (!raw(this, key)) right.grant.call(this, key, lease);
      },
    },
  ],
  ...[-1, 1].map((ms): [string, string, Fault] => [
    `records a revocation 1 ms too ${ms > 0 ? 'late' : 'early'}`,
    'records a revocation no earlier',
    {
      getRevocations(keys) {
        return right.getRevocations.call(this, keys).then((all) => all.map((atMs) => atMs && atMs + ms));
      },
    },
  ]),
  ...(
    [
      ['tombstone', -1],
      ['value', -1],
      ['leased', -1],
      ['none', 1],
    ] as const
  ).map(([kind, ms]): [string, string, Fault] => [
    `has a clock of its own for an entry of the kind ${kind}`,
    'records a revocation no earlier',
    seeing((entry) => entry.kind === kind && { storeTimeMs: nowMs + ms }),
  ]),
  [
    'returns a revocation of no key',
    'returns the revocations in the order',
    {
      getRevocations(keys) {
        return right.getRevocations.call(this, keys).then((all) => (keys.length > 0 ? all : [undefined]));
      },
    },
  ],
  ...[0, 2].map((changed): [string, string, Fault] => [
    `returns the time of revocation ${changed} as text`,
    'returns the revocations in the order',
    {
      async getRevocations(keys) {
        const all = await right.getRevocations.call(this, keys);
        return all.map((atMs, index) => (index === changed ? `${atMs}` : atMs)) as never;
      },
    },
  ]),
  [
    'returns a later time of the earlier of two revocations',
    'returns the revocations in the order',
    {
      async getRevocations(keys) {
        const all = await right.getRevocations.call(this, keys);
        return all.map((atMs, index) => (index === 2 && atMs ? atMs + FAR_MS : atMs));
      },
    },
  ],
  [
    'keeps an expired revocation',
    'lets a revocation expire',
    {
      setRevocation(key) {
        return right.setRevocation.call(this, key, FAR_MS);
      },
    },
  ],
  ...(['atMs', 'endMs'] as const).map((field): [string, string, Fault] => [
    `keeps the ${field === 'atMs' ? 'time' : 'end'} of the first of two revocations`,
    'lets a revocation expire',
    {
      async setRevocation(key, ttlMs) {
        const first = this.server.revocations.get(key);
        await right.setRevocation.call(this, key, ttlMs);
        Object.assign(this.server.revocations.get(key) ?? {}, first && { [field]: first[field] });
      },
    },
  ]),
  [
    'deletes the entry of a key that is revoked',
    'keeps revocations apart',
    {
      setRevocation(key, ttlMs) {
        this.server.entries.delete(key);
        return right.setRevocation.call(this, key, ttlMs);
      },
    },
  ],
  [
    'deletes the revocation of a key with a tombstone',
    'keeps revocations apart',
    {
      setTombstone(key, ttlMs) {
        this.server.revocations.delete(key);
        return right.setTombstone.call(this, key, ttlMs);
      },
    },
  ],
  [
    'sets no tombstone of a key that is revoked',
    'keeps revocations apart',
    {
      setTombstone(key, ttlMs) {
        return this.server.revocations.has(key) ? nothing() : right.setTombstone.call(this, key, ttlMs);
      },
    },
  ],
  [
    'delivers a part of a message',
    'delivers a message to every',
    {
      publish(message) {
        return right.publish.call(this, message.subarray(1));
      },
    },
  ],
  [
    'delivers messages to an instance that unsubscribed',
    'delivers a message to every',
    {
      subscribe(subscriber) {
        right.subscribe.call(this, subscriber);
        return nothing;
      },
    },
  ],
  [
    'delivers messages late to an instance that unsubscribed',
    'delivers a message to every',
    {
      subscribe(subscriber) {
        right.subscribe.call(this, subscriber);
        return nothing;
      },
      publish(message) {
        return deliver(message, [...this.server.subscribers].reverse());
      },
    },
  ],
  [
    'is never subscribed',
    'delivers a message to every',
    {
      subscribe(subscriber) {
        return right.subscribe.call(this, {
          message: (bytes) => subscriber.message(bytes),
          interrupted: () => undefined,
          subscribed: () => undefined,
        });
      },
    },
  ],
  [
    'delivers messages before it is subscribed',
    'calls subscribed before the first message',
    {
      subscribe(subscriber) {
        this.server.subscribers.add(subscriber);
        return nothing;
      },
    },
  ],
])('a store that %s breaks the rule that it %s', async (_fault, rule, faults) => {
  expect(await brokenBy(faults)).toContainEqual(expect.stringContaining(rule));
});
