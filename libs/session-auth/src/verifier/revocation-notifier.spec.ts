import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { TokenKey } from '../contract/session-identity.js';
import { RevocationNotifier } from './revocation-notifier.js';

const [ANN, BOB] = ['ann', 'bob'] as [TokenKey, TokenKey];

function setUp() {
  jest.useFakeTimers();
  const emitted: TokenKey[] = [];
  return { emitted, notifier: new RevocationNotifier((tokenKey) => emitted.push(tokenKey)) };
}

afterEach(() => void jest.useRealTimers());

describe('the event of a revoked session', () => {
  it('is emitted once a minute, however often its revocation is found', () => {
    const { emitted, notifier } = setUp();
    for (const tokenKey of [ANN, ANN, BOB, ANN]) notifier.emitOnce(tokenKey);
    expect(emitted).toEqual([ANN, BOB]);
    jest.advanceTimersByTime(59_999);
    notifier.emitOnce(ANN);
    expect(emitted).toEqual([ANN, BOB]);
    jest.advanceTimersByTime(1);
    notifier.emitOnce(ANN);
    expect(emitted).toEqual([ANN, BOB, ANN]);
  });

  it('is emitted in any case when a check has begun since, which may have admitted the session', () => {
    const { emitted, notifier } = setUp();
    for (const tokenKey of [ANN, BOB]) notifier.emitOnce(tokenKey);
    notifier.checkBegins(ANN);
    for (const tokenKey of [ANN, BOB]) notifier.emitOnce(tokenKey);
    expect(emitted).toEqual([ANN, BOB, ANN]);
  });

  it('is emitted for each sign-out, and not for what is found of it afterwards', () => {
    const { emitted, notifier } = setUp();
    notifier.emitOnce(ANN);
    notifier.emit(ANN);
    notifier.emit(ANN);
    notifier.emitOnce(ANN);
    expect(emitted).toEqual([ANN, ANN, ANN]);
  });
});
