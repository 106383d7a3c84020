import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { TokenKey } from '../../contract/session-identity.js';
import { RevocationNotifier } from './revocation-notifier.js';

const [ANN, BOB] = ['ann', 'bob'] as [TokenKey, TokenKey];

function setUp() {
  jest.useFakeTimers();
  const emitted: TokenKey[] = [];
  return { emitted, notifier: new RevocationNotifier((tokenKey) => emitted.push(tokenKey)) };
}

afterEach(() => void jest.useRealTimers());

describe('the event of a revoked session', () => {
  it('is emitted once a minute, however often its revocation arrives', () => {
    const { emitted, notifier } = setUp();
    for (const tokenKey of [ANN, ANN, BOB, ANN]) notifier.notify(tokenKey);
    expect(emitted).toEqual([ANN, BOB]);
    jest.advanceTimersByTime(59_999);
    notifier.notify(ANN);
    expect(emitted).toEqual([ANN, BOB]);
    jest.advanceTimersByTime(1);
    notifier.notify(ANN);
    expect(emitted).toEqual([ANN, BOB, ANN]);
  });

  it('is emitted again for a token that a sign-in has issued again', () => {
    const { emitted, notifier } = setUp();
    for (const tokenKey of [ANN, BOB]) notifier.notify(tokenKey);
    notifier.clear(ANN);
    for (const tokenKey of [ANN, BOB]) notifier.notify(tokenKey);
    expect(emitted).toEqual([ANN, BOB, ANN]);
  });
});
