import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { SessionClient } from '../client/session-client.js';
import type { Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { SessionStore, type StoreEntry, type StoreSubscriber } from '../contract/session-store.js';
import type { SessionAuthOptions } from './options/options.js';
import { clientOf, clientSetupOf, registrationOf } from './wiring.js';

const session = { token: 'token', authIv: undefined };
const JSON_OF_ANN = { username: 'ann', role: 'boss' };
const none = (): Promise<void> => Promise.resolve();

/** A store in memory, which is down while `isDown`. */
class MemoryStore extends SessionStore {
  isDown = false;
  readonly values = new Map<string, Uint8Array>();
  readonly subscribers: StoreSubscriber[] = [];

  get(key: string): Promise<StoreEntry> {
    if (this.isDown) return Promise.reject(new Error('down'));
    const value = this.values.get(key);
    return Promise.resolve({
      ...(value ? { kind: 'value', value, remainingMs: 60_000 } : { kind: 'none' }),
      storeTimeMs: 1,
    } as StoreEntry);
  }

  set(key: string, value: Uint8Array): Promise<boolean> {
    this.values.set(key, value);
    return Promise.resolve(true);
  }

  publish(bytes: Uint8Array): Promise<void> {
    for (const subscriber of this.subscribers) subscriber.message(bytes);
    return Promise.resolve();
  }

  subscribe(subscriber: StoreSubscriber): () => Promise<void> {
    this.subscribers.push(subscriber);
    return none;
  }

  delete = (): Promise<boolean> => Promise.resolve(false);
  setTombstone = none;
  clearTombstone = none;
  setRevocation = none;
  getRevocations = (keys: readonly string[]): Promise<undefined[]> =>
    Promise.resolve(keys.map(() => undefined));
}

/** The connection of a registration, in an application without other modules. */
async function connectionWith(options: Partial<SessionAuthOptions>) {
  const modules = new ModulesContainer();
  const all = { baseUrl: 'http://service', apiKey: 'key', ...options };
  return { modules, connection: await clientSetupOf(all, {}, modules) };
}

/** The verifier of one of the instances that share a store. */
async function instanceWith(store: MemoryStore) {
  const { connection, modules } = await connectionWith({ cache: { ttlMs: 60_000, store } });
  const { readUser } = connection;
  const userDetails = jest.fn((): Promise<Verdict<object>> => {
    return Promise.resolve({ kind: 'authenticated', user: readUser(JSON_OF_ANN) ?? {}, json: JSON_OF_ANN });
  });
  const client = { userDetails } as unknown as SessionClient<UserRecord>;
  const { verifier, events } = await registrationOf(connection, client, modules);
  verifier.revoker.subscribe();
  return { verifier, userDetails, status: () => events.serviceStatus.value };
}

let lines: string[];
beforeEach(() => {
  jest.useFakeTimers();
  lines = [];
  jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void lines.push(String(line)));
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

describe('a registration with a store', () => {
  it('shares its sessions with other instances, which read the user by the options', async () => {
    const store = new MemoryStore();
    const [first, second] = [await instanceWith(store), await instanceWith(store)];
    await first.verifier.verify(session);
    expect(await second.verifier.verify(session)).toMatchObject({
      kind: 'authenticated',
      user: { username: 'ann', role: 'boss' },
    });
    expect([first.userDetails.mock.calls.length, second.userDetails.mock.calls.length, lines]).toEqual([
      1,
      0,
      [],
    ]);
    await Promise.all([first.verifier.close(), second.verifier.close(), jest.advanceTimersByTimeAsync(0)]);
  });

  it('asks the service if the store fails, and logs it', async () => {
    const store = new MemoryStore();
    const { verifier, userDetails } = await instanceWith(store);
    store.isDown = true;
    expect(await verifier.verify(session)).toMatchObject({ kind: 'authenticated' });
    expect([userDetails.mock.calls.length, lines]).toEqual([
      1,
      [expect.stringMatching(/^session store unavailable:/)],
    ]);
    await Promise.all([verifier.close(), jest.advanceTimersByTimeAsync(0)]);
  });

  it('logs that the clock of another instance differs', async () => {
    const store = new MemoryStore();
    const [first, second] = [await instanceWith(store), await instanceWith(store)];
    jest.setSystemTime(Date.now() - 120_000);
    const publish = store.publish.bind(store);
    jest.spyOn(store, 'publish').mockImplementation((bytes) => {
      jest.setSystemTime(Date.now() + 120_000);
      return publish(bytes);
    });
    await first.verifier.revoker.apply({ kind: 'allRevoked' });
    expect(lines).toEqual([expect.stringMatching(/^clock differs:/)]);
    await Promise.all([first.verifier.close(), second.verifier.close(), jest.advanceTimersByTimeAsync(0)]);
  });

  it('reports whether the revocations of other instances arrive, and logs why they do not', async () => {
    const store = new MemoryStore();
    const { verifier, status } = await instanceWith(store);
    expect(status().revocationBus.state).toBe('off');
    store.subscribers[0]?.subscribed();
    expect([status().revocationBus.state, status().state, lines]).toEqual(['connected', 'up', []]);
    store.subscribers[0]?.interrupted('The connection was lost');
    expect([status().revocationBus.state, status().state, lines]).toEqual([
      'interrupted',
      'degraded',
      [expect.stringMatching(/^revocation bus interrupted: .* \(The connection was lost\)\. /)],
    ]);
    await Promise.all([verifier.close(), jest.advanceTimersByTimeAsync(0)]);
  });
});

describe('a registration without a store', () => {
  it('has no revocations of other instances', async () => {
    const { connection, modules } = await connectionWith({});
    const { verifier, events } = await registrationOf(connection, clientOf(connection), modules);
    verifier.revoker.subscribe();
    expect(events.serviceStatus.value.revocationBus.state).toBe('off');
  });
});
