import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CHECK_CHANNEL, type CheckMessage } from '../contract/diagnostics.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import { reportCachedCheck, reportCheck } from './session-check.js';

const ann = { kind: 'authenticated', user: { username: 'ann' } } as const;
const published: CheckMessage[] = [];
const note = (message: unknown): void => void published.push(message as CheckMessage);

beforeEach(() => {
  published.length = 0;
  subscribe(CHECK_CHANNEL, note);
});
afterEach(() => {
  unsubscribe(CHECK_CHANNEL, note);
  jest.restoreAllMocks();
});

describe('the message of a check', () => {
  it.each<[string, Verdict<object>, Partial<CheckMessage>]>([
    [
      'a session of the service',
      ann,
      { outcome: 'authenticated', source: 'service', stale: false, reason: undefined },
    ],
    [
      'a session of the store',
      { ...ann, confirmedAtMs: 0 },
      { outcome: 'authenticated', source: 'store', stale: false },
    ],
    ['a stale session', { ...ann, stale: true }, { outcome: 'authenticated', source: 'cache', stale: true }],
    [
      'a refusal',
      UNAUTHENTICATED,
      { outcome: 'unauthenticated', source: 'service', stale: false, reason: undefined },
    ],
    ['a 403', FORBIDDEN, { outcome: 'forbidden', source: 'service', stale: false, reason: undefined }],
    [
      'an outage',
      unavailable('busy'),
      { outcome: 'unavailable', source: 'service', stale: false, reason: 'busy' },
    ],
  ])('describes %s, and its verdict is returned', async (_name, verdict, message) => {
    expect(await reportCheck(Promise.resolve(verdict), false, 'partners')).toBe(verdict);
    expect(published).toEqual([
      expect.objectContaining({ authority: 'partners', joined: false, ...message }),
    ]);
  });

  it('has the time that the caller waited, and whether the check joined a call', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    const verdict = reportCheck(Promise.resolve(UNAUTHENTICATED), true, 'default');
    clock.mockReturnValue(1_250);
    await verdict;
    expect(published).toEqual([expect.objectContaining({ joined: true, durationMs: 250 })]);
  });

  it('of a cache hit names the cache, and took no time', () => {
    reportCachedCheck(ann, 'partners');
    const message = { source: 'cache', joined: false, stale: false, reason: undefined, durationMs: 0 };
    expect(published).toEqual([{ outcome: 'authenticated', authority: 'partners', ...message }]);
  });
});
