import { describe, expect, it, jest } from '@jest/globals';
import { Deadline, Deadlines } from '../client/deadline.js';
import type { Lane } from './lane.js';
import { Lanes } from './lanes.js';

function trial(maxInFlight: number, maxQueued: number) {
  const settings = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight, maxQueued };
  const lanes = new Lanes<object>(() => new Promise(() => undefined), new Deadlines(), settings);
  const { known, strangers } = lanes.lanes;
  const deadlines: Deadline[] = [];
  /** The outcome of each check, in order of arrival: `waits` until it is known. */
  const outcomes: string[] = [];
  const enter = (lane: Lane, times = 1): void => {
    for (let came = 0; came < times; came += 1) {
      const deadline = new Deadline(60_000);
      const place = outcomes.push('waits') - 1;
      deadlines.push(deadline);
      void Promise.resolve(lanes.enter(lane, deadline)).then((result) => (outcomes[place] = result));
    }
  };
  const outcomesSoFar = async (): Promise<string[]> => {
    await new Promise(setImmediate);
    return outcomes;
  };
  return {
    known,
    strangers,
    lanes,
    enter,
    outcomesSoFar,
    deadlines,
    leave: (lane: Lane) => lanes.leave(lane),
  };
}

const times = (count: number, outcome: string): string[] => Array<string>(count).fill(outcome);

describe('a lane', () => {
  it('may use all places and the whole queue while the other is idle', async () => {
    for (const own of ['known', 'strangers'] as const) {
      const { [own]: lane, enter, outcomesSoFar } = trial(4, 2);
      enter(lane, 7);
      expect(await outcomesSoFar()).toEqual([...times(4, 'entered'), ...times(2, 'waits'), 'full']);
    }
  });

  it('returns borrowed places with the next places that become free', async () => {
    const { known, strangers, enter, leave, outcomesSoFar } = trial(4, 20);
    enter(strangers, 8);
    enter(known, 4);
    for (let left = 0; left < 3; left += 1) leave(strangers);
    expect((await outcomesSoFar()).slice(8)).toEqual([...times(3, 'entered'), 'waits']);
    leave(strangers);
    expect([known.inFlight, strangers.inFlight]).toEqual([3, 1]);
    leave(known);
    expect([known.inFlight, strangers.inFlight]).toEqual([3, 1]);
  });

  it('of strangers gets its quarter while known sessions need all places', () => {
    const { known, strangers, enter, leave } = trial(8, 20);
    enter(known, 12);
    enter(strangers, 4);
    leave(known);
    leave(known);
    expect([known.inFlight, strangers.inFlight]).toEqual([6, 2]);
    leave(known);
    expect([known.inFlight, strangers.inFlight]).toEqual([6, 2]);
  });

  it('of strangers gets every fourth turn of a single place', () => {
    const { known, strangers, enter, leave } = trial(1, 40);
    enter(known, 9);
    enter(strangers, 9);
    const turns = Array.from({ length: 8 }, () => {
      leave(known.inFlight ? known : strangers);
      return known.inFlight ? 'known' : 'stranger';
    });
    expect(turns).toEqual([...times(3, 'known'), 'stranger', ...times(3, 'known'), 'stranger']);
  });

  it('below its share of a full queue replaces the oldest waiter of the other', async () => {
    const { known, strangers, enter, outcomesSoFar } = trial(1, 4);
    enter(strangers, 5);
    enter(known, 4);
    expect(await outcomesSoFar()).toEqual([
      'entered',
      'full',
      'full',
      'full',
      'waits',
      ...times(3, 'waits'),
      'full',
    ]);
    enter(strangers, 1);
    expect((await outcomesSoFar()).at(-1)).toBe('full');
    expect([known.waiting.size, strangers.waiting.size]).toEqual([3, 1]);
  });

  it('rejects a check as soon as its deadline ends in the queue, or if it has ended before', async () => {
    const { known, enter, outcomesSoFar, deadlines, lanes } = trial(1, 2);
    enter(known, 2);
    deadlines[1]?.end('timeout');
    expect(await outcomesSoFar()).toEqual(['entered', 'timeout']);
    const over = new Deadline(60_000);
    over.end('shutting_down');
    expect(lanes.enter(known, over)).toBe('shutting_down');
    lanes.leave(known);
    expect(known.inFlight).toBe(0);
  });

  it('assumes its own share for that, even if the other lane holds all places', async () => {
    const { known, strangers, enter, outcomesSoFar } = trial(4, 100);
    known.pace.record(20_000);
    enter(strangers, 4);
    enter(known, 5);
    expect((await outcomesSoFar()).slice(4)).toEqual([...times(4, 'waits'), 'full']);
  });

  it('skips a check that has waited too long to be answered in time', async () => {
    const { known, enter, leave, outcomesSoFar, deadlines } = trial(1, 5);
    enter(known, 3);
    known.pace.record(10_000);
    Object.defineProperty(deadlines[1], 'remainingMs', { value: 19_000 });
    leave(known);
    expect(await outcomesSoFar()).toEqual(['entered', 'full', 'entered']);
  });

  it('gets the next place if the other has no waiting check, also beyond its share', async () => {
    for (const places of [1, 4]) {
      const { known, enter, leave, outcomesSoFar } = trial(places, 2);
      enter(known, places + 1);
      leave(known);
      expect(await outcomesSoFar()).toEqual(times(places + 1, 'entered'));
    }
  });

  it('of strangers below its share of a full queue replaces the oldest waiter of known sessions', async () => {
    const { known, strangers, enter, outcomesSoFar } = trial(1, 4);
    enter(known, 5);
    enter(strangers, 2);
    expect(await outcomesSoFar()).toEqual(['entered', 'full', ...times(3, 'waits'), 'waits', 'full']);
    expect([known.waiting.size, strangers.waiting.size]).toEqual([3, 1]);
  });

  it('does not admit a check before those that wait, if its limit has grown meanwhile', async () => {
    const { strangers, enter, leave, outcomesSoFar } = trial(4, 5);
    enter(strangers, 1);
    const limit = jest.spyOn(strangers, 'isAtLimit', 'get').mockReturnValue(true);
    enter(strangers, 1);
    limit.mockReturnValue(false);
    enter(strangers, 1);
    expect(await outcomesSoFar()).toEqual(['entered', 'waits', 'waits']);
    leave(strangers);
    expect(await outcomesSoFar()).toEqual(times(3, 'entered'));
  });
});
