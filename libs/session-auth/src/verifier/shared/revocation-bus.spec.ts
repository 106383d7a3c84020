import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { tokenKeyOf } from '../../contract/session-identity.js';
import type { SessionStore, StoreSubscriber } from '../../contract/session-store.js';
import { Outbox } from './outbox.js';
import { RevocationBus, type BusMessage } from './revocation-bus.js';
import { SessionSeal } from './session-seal.js';
import { StoreAccess } from './store-access.js';

const [NEW, OLD] = ['the new secret.', 'the old secret.'].map((secret) => new SessionSeal(secret, 'scope')) as [SessionSeal, SessionSeal];
const [ANN, BOB] = [tokenKeyOf('ann'), tokenKeyOf('bob')];
const MESSAGES: BusMessage[] = [
  { kind: 'signedOut', tokenKey: ANN },
  { kind: 'signedOut', tokenKey: BOB },
  { kind: 'refused', tokenKey: ANN },
  { kind: 'evicted', tokenKey: ANN },
  { kind: 'userRevoked', username: 'ann' },
  { kind: 'userRevoked', username: 'bob' },
  { kind: 'allRevoked' },
];

/** A channel of a store, which is down while `isDown`. */
function channel() {
  const state = { isDown: false, sent: [] as Uint8Array[], subscriber: undefined as StoreSubscriber | undefined };
  const store = {
    publish: (bytes: Uint8Array): Promise<void> => {
      if (state.isDown) return Promise.reject(new Error('down'));
      state.sent.push(bytes);
      state.subscriber?.message(bytes);
      return Promise.resolve();
    },
    subscribe: (subscriber: StoreSubscriber) => {
      state.subscriber = subscriber;
      return (): Promise<void> => Promise.resolve(void (state.subscriber = undefined));
    },
  } as unknown as SessionStore;
  const bus = (...seals: SessionSeal[]): RevocationBus => new RevocationBus(store, new Outbox(new StoreAccess(50, () => undefined)), seals);
  /** Subscribes with these secrets; `received` and `reports` grow. */
  const listen = (...seals: SessionSeal[]) => {
    const [received, reports]: [BusMessage[], string[]] = [[], []];
    const unsubscribe = bus(...seals).subscribe((message) => received.push(message), {
      subscribed: () => reports.push('subscribed'),
      interrupted: (reason) => reports.push(reason),
      clockDiffers: () => reports.push('clock differs'),
    });
    return { received, reports, unsubscribe };
  };
  return { state, bus, listen };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a message', () => {
  it('arrives as it was published', async () => {
    const { bus, listen } = channel();
    const { received, reports } = listen(NEW);
    for (const message of MESSAGES) await bus(NEW).publish(message, 60_000);
    expect(received).toMatchObject(MESSAGES);
    expect([received.length, reports]).toEqual([MESSAGES.length, []]);
  });

  it('is retried until the store is available, and replaces only an earlier one about the same', async () => {
    const { state, bus, listen } = channel();
    const { received } = listen(NEW);
    const one = bus(NEW);
    state.isDown = true;
    await Promise.all([...MESSAGES, ...MESSAGES].map((message) => one.publish(message, 60_000)));
    expect(one.cancel({ kind: 'refused', tokenKey: BOB })).toBe(false);
    expect(one.cancel({ kind: 'refused', tokenKey: ANN })).toBe(true);
    state.isDown = false;
    await jest.advanceTimersByTimeAsync(10_000);
    const expected = MESSAGES.filter(({ kind }) => kind !== 'refused');
    expect(received).toHaveLength(expected.length);
    for (const message of expected) expect(received).toContainEqual(expect.objectContaining({ ...message }));
  });

  it('is sealed with every secret, so that it arrives once at each instance during a rotation', async () => {
    for (const seals of [[NEW, OLD], [OLD, NEW], [OLD], [NEW]]) {
      const { state, bus, listen } = channel();
      const { received } = listen(...seals);
      await bus(NEW, OLD).publish({ kind: 'allRevoked' }, 60_000);
      expect([state.sent.length, received]).toEqual([2, [{ kind: 'allRevoked' }]]);
    }
  });

  it('is opened with every secret', async () => {
    const { bus, listen } = channel();
    const { received } = listen(NEW, OLD);
    await bus(OLD).publish({ kind: 'allRevoked' }, 60_000);
    expect(received).toEqual([{ kind: 'allRevoked' }]);
  });

  it('is ignored if it was sealed with another secret or damaged', async () => {
    const { state, bus, listen } = channel();
    const { received } = listen(NEW);
    await bus(OLD).publish({ kind: 'allRevoked' }, 60_000);
    state.subscriber?.message(new Uint8Array(100));
    state.subscriber?.message(new Uint8Array());
    expect(received).toEqual([]);
  });

  it('is received once within ten minutes, however often it arrives', async () => {
    const { state, bus, listen } = channel();
    const { received } = listen(NEW);
    await bus(NEW).publish({ kind: 'allRevoked' }, 60_000);
    const [bytes = new Uint8Array()] = state.sent;
    const receivedAgainAfter = (ms: number): number => {
      jest.advanceTimersByTime(ms);
      state.subscriber?.message(bytes);
      return received.length;
    };
    expect([0, 599_999, 1].map(receivedAgainAfter)).toEqual([1, 1, 2]);
  });
});

describe('a sealed message of another version', () => {
  const GOOD = { kind: 'allRevoked', id: 'id', at: 0 };

  function receive(form: unknown): { received: BusMessage[]; reports: string[] } {
    const { state, listen } = channel();
    const { received, reports } = listen(NEW);
    state.subscriber?.message(NEW.sealMessage(typeof form === 'string' ? form : JSON.stringify(form)));
    return { received, reports };
  }

  it.each<[string, unknown]>([
    ['is no JSON', '{'],
    ['is no object', 'null'],
    ['has no id', { ...GOOD, id: undefined }],
    ['has another id', { ...GOOD, id: 7 }],
    ['has no time', { ...GOOD, at: undefined }],
    ['has another time', { ...GOOD, at: '0' }],
    ['has an unknown kind', { ...GOOD, kind: 'other', token: 'AAAA', username: 'ann' }],
    ['has no kind', { ...GOOD, kind: undefined, token: 'AAAA' }],
    ['has no user', { ...GOOD, kind: 'userRevoked', token: 'AAAA' }],
    ['has another user', { ...GOOD, kind: 'userRevoked', username: 7 }],
    ['has no token', { ...GOOD, kind: 'signedOut', username: 'ann' }],
    ['has another token', { ...GOOD, kind: 'signedOut', token: [1] }],
  ])('is ignored if it %s', (_name, form) => {
    jest.setSystemTime(0);
    expect(receive(form)).toEqual({ received: [], reports: [] });
  });

  it('is ignored beyond 8 KiB', () => {
    jest.setSystemTime(0);
    const empty = NEW.sealMessage(JSON.stringify({ ...GOOD, pad: '' })).length;
    const padded = (bytes: number): object => ({ ...GOOD, pad: 'x'.repeat(bytes - empty) });
    expect([8_192, 8_193].map((bytes) => receive(padded(bytes)).received.length)).toEqual([1, 0]);
  });

  it.each([
    [60_000, []],
    [60_001, ['clock differs']],
    [-60_000, []],
    [-60_001, ['clock differs']],
  ])('is received, and the clocks are reported if they differ by more than a minute: %d ms', (differenceMs, reported) => {
    jest.setSystemTime(1_000_000);
    const { received, reports } = receive({ ...GOOD, at: 1_000_000 - differenceMs });
    expect([received, reports]).toEqual([[{ kind: 'allRevoked' }], reported]);
  });
});

describe('the subscription', () => {
  it('reports when it starts and when it is interrupted, until it ends', async () => {
    const { state, listen } = channel();
    const { reports, unsubscribe } = listen(NEW);
    state.subscriber?.subscribed();
    state.subscriber?.interrupted('The connection is closed.');
    expect(reports).toEqual(['subscribed', 'The connection is closed.']);
    await unsubscribe();
    expect(state.subscriber).toBeUndefined();
  });
});
