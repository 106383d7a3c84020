import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Deadline, Deadlines } from '../client/deadline.js';
import type { LaneName } from '../contract/diagnostics.js';
import { unavailable, type Verdict } from '../contract/outcome.js';
import { sessionKeysOf } from '../contract/session-identity.js';
import { Lanes } from './lanes.js';
import { StrangersLimit } from './strangers-limit.js';

const failed = unavailable('malformed');

/** Lanes whose calls end, with a failure that says nothing of their duration, when the test says so. */
function trial(maxInFlight: number, maxQueued: number) {
  const settings = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight, maxQueued };
  const deadlines: Deadline[] = [];
  let isClosed = false;
  const starting = new Deadlines();
  jest.spyOn(starting, 'start').mockImplementation((durationMs) => {
    const deadline = new Deadline(durationMs);
    deadlines.push(deadline);
    if (isClosed) deadline.end('shutting_down');
    return deadline;
  });
  /** The outcome of each check, in order of arrival: `waits` until it is known. */
  const outcomes: string[] = [];
  const inFlight: Record<LaneName, (() => void)[]> = { known: [], strangers: [] };
  const call = ({ token }: { readonly token: string }): Promise<Verdict<object>> =>
    new Promise((resolve) => {
      const [name, place] = token.split('-') as [LaneName, string];
      outcomes[Number(place)] = 'entered';
      inFlight[name].push(() => resolve(failed));
    });
  const lanes = new Lanes<object>(call, starting, settings);
  const enter = (name: LaneName, times = 1): void => {
    for (let came = 0; came < times; came += 1) {
      const place = outcomes.push('waits') - 1;
      const session = { token: `${name}-${place}`, authIv: undefined };
      void lanes.call(session, sessionKeysOf(session), 0, name).then((verdict) => {
        if (verdict !== failed && verdict.kind === 'unavailable') outcomes[place] = verdict.reason;
      });
    }
  };
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    enter,
    deadlines,
    /** Ends later deadlines at their start. */
    close: () => void (isClosed = true),
    paceOf: (name: LaneName) => lanes.lanes[name].pace,
    outcomesSoFar: async (): Promise<string[]> => (await settled(), outcomes),
    /** Ends the oldest call of a lane. */
    leave: async (name: LaneName): Promise<void> => {
      inFlight[name].shift()?.();
      await settled();
    },
    /** Calls in flight, of known sessions and of strangers. */
    inFlight: async () => (await settled(), [inFlight.known.length, inFlight.strangers.length]),
    waiting: () => [lanes.lanes.known.waiting.size, lanes.lanes.strangers.waiting.size],
  };
}

afterEach(() => void jest.restoreAllMocks());

const times = (count: number, outcome: string): string[] => Array<string>(count).fill(outcome);

describe('a lane', () => {
  it('of strangers gets every fourth turn of a single place', async () => {
    const { enter, inFlight, leave } = trial(1, 40);
    enter('known', 9);
    enter('strangers', 9);
    const turns: string[] = [];
    let turn: LaneName = 'known';
    for (let left = 0; left < 8; left += 1) {
      await leave(turn);
      turn = (await inFlight())[0] ? 'known' : 'strangers';
      turns.push(turn);
    }
    expect(turns).toEqual([...times(3, 'known'), 'strangers', ...times(3, 'known'), 'strangers']);
  });

  it('of known sessions leaves a place to waiting strangers once it has its share', async () => {
    const { enter, inFlight, leave } = trial(8, 8);
    enter('known', 7);
    enter('strangers', 1);
    enter('known', 1);
    enter('strangers', 1);
    await leave('known');
    expect(await inFlight()).toEqual([6, 2]);
    await leave('known');
    expect(await inFlight()).toEqual([6, 2]);
  });

  it('of known sessions gets each next place below its share, however many strangers wait', async () => {
    const { enter, inFlight, leave } = trial(8, 8);
    enter('strangers', 10);
    enter('known', 3);
    for (const place of [1, 2, 3]) {
      await leave('strangers');
      expect(await inFlight()).toEqual([place, 8 - place]);
    }
  });

  it('below its share of a full queue replaces the oldest waiter of the other', async () => {
    const { enter, outcomesSoFar, waiting } = trial(1, 4);
    enter('strangers', 5);
    enter('known', 4);
    expect(await outcomesSoFar()).toEqual(['entered', ...times(3, 'busy'), ...times(4, 'waits'), 'busy']);
    enter('strangers', 1);
    expect((await outcomesSoFar()).at(-1)).toBe('busy');
    expect(waiting()).toEqual([3, 1]);
  });

  it('rejects a check as soon as its deadline ends in the queue, or if it has ended before', async () => {
    const { close, deadlines, enter, inFlight, leave, outcomesSoFar } = trial(1, 2);
    enter('known', 2);
    deadlines[1]?.end('timeout');
    expect(await outcomesSoFar()).toEqual(['entered', 'timeout']);
    close();
    enter('known');
    await leave('known');
    enter('known');
    expect(await outcomesSoFar()).toEqual(['entered', 'timeout', ...times(2, 'shutting_down')]);
    expect(await inFlight()).toEqual([0, 0]);
  });

  it('assumes its own share for that, even if the other lane holds all places', async () => {
    const { enter, outcomesSoFar, paceOf } = trial(4, 100);
    paceOf('known').record(20_000);
    enter('strangers', 4);
    enter('known', 5);
    expect((await outcomesSoFar()).slice(4)).toEqual([...times(4, 'waits'), 'busy']);
  });

  it('of strangers below its share of a full queue replaces the oldest waiter of known sessions', async () => {
    const { enter, outcomesSoFar, waiting } = trial(1, 4);
    enter('known', 5);
    enter('strangers', 2);
    expect(await outcomesSoFar()).toEqual(['entered', 'busy', ...times(3, 'waits'), 'waits', 'busy']);
    expect(waiting()).toEqual([3, 1]);
  });

  it('does not admit a check before those that wait, if its limit has grown meanwhile', async () => {
    const { enter, leave, outcomesSoFar } = trial(4, 5);
    enter('strangers', 1);
    const limit = jest.spyOn(StrangersLimit.prototype, 'isReached').mockReturnValue(true);
    enter('strangers', 1);
    limit.mockReturnValue(false);
    enter('strangers', 1);
    expect(await outcomesSoFar()).toEqual(['entered', 'waits', 'waits']);
    await leave('strangers');
    expect(await outcomesSoFar()).toEqual(times(3, 'entered'));
  });
});
