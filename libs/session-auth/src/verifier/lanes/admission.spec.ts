import { describe, expect, it } from '@jest/globals';
import { Deadline } from '../../client/deadline.js';
import { Admission } from './admission.js';
import type { Lane } from './lane.js';
import { buildLanes } from './lanes.js';

function trial(maxInFlight: number, maxQueued: number) {
  const settings = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight, maxQueued };
  const { known, strangers } = buildLanes(settings, () => undefined);
  const admission = new Admission(settings, known, strangers);
  const deadlines: Deadline[] = [];
  /** What became of each check that came: `waits` until it is known. */
  const outcomes: string[] = [];
  const enter = (lane: Lane, times = 1): void => {
    for (let came = 0; came < times; came += 1) {
      const deadline = new Deadline(60_000);
      const place = outcomes.push('waits') - 1;
      deadlines.push(deadline);
      void Promise.resolve(admission.enter(lane, deadline)).then((admitted) => (outcomes[place] = admitted));
    }
  };
  const told = async (): Promise<string[]> => {
    await new Promise(setImmediate);
    return outcomes;
  };
  return { known, strangers, admission, enter, told, deadlines, leave: (lane: Lane) => admission.leave(lane) };
}

const times = (count: number, outcome: string): string[] => Array<string>(count).fill(outcome);

describe('a lane', () => {
  it('may use all places and the whole queue while the other is idle', async () => {
    for (const own of ['known', 'strangers'] as const) {
      const { [own]: lane, enter, told } = trial(4, 2);
      enter(lane, 7);
      expect(await told()).toEqual([...times(4, 'admitted'), ...times(2, 'waits'), 'full']);
    }
  });

  it('admits waiting checks in the order of their arrival', async () => {
    const { known, enter, leave, told } = trial(1, 2);
    enter(known, 3);
    leave(known);
    expect(await told()).toEqual(['admitted', 'admitted', 'waits']);
    leave(known);
    expect(await told()).toEqual(times(3, 'admitted'));
  });

  it('returns borrowed places with the next places that become free', async () => {
    const { known, strangers, enter, leave, told } = trial(4, 20);
    enter(strangers, 8);
    enter(known, 4);
    for (let left = 0; left < 3; left += 1) leave(strangers);
    expect((await told()).slice(8)).toEqual([...times(3, 'admitted'), 'waits']);
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
    const { known, strangers, enter, told } = trial(1, 4);
    enter(strangers, 5);
    enter(known, 4);
    expect(await told()).toEqual(['admitted', 'full', 'full', 'full', 'waits', ...times(3, 'waits'), 'full']);
    enter(strangers, 1);
    expect((await told()).at(-1)).toBe('full');
    expect([known.waiting.size, strangers.waiting.size]).toEqual([3, 1]);
  });

  it('rejects a check as soon as its deadline ends in the queue, or if it has ended before', async () => {
    const { known, enter, told, deadlines, admission } = trial(1, 2);
    enter(known, 2);
    deadlines[1]?.end('timeout');
    expect(await told()).toEqual(['admitted', 'timeout']);
    const over = new Deadline(60_000);
    over.end('shutting_down');
    expect(admission.enter(known, over)).toBe('shutting_down');
    admission.leave(known);
    expect(known.inFlight).toBe(0);
  });

  it('does not queue a check whose turn would come too late', async () => {
    const { strangers, enter, told } = trial(2, 100);
    strangers.pace.record(20_000);
    enter(strangers, 6);
    expect(await told()).toEqual([...times(2, 'admitted'), ...times(3, 'waits'), 'full']);
  });

  it('assumes its own share for that, even if the other lane holds all places', async () => {
    const { known, strangers, enter, told } = trial(4, 100);
    known.pace.record(20_000);
    enter(strangers, 4);
    enter(known, 5);
    expect((await told()).slice(4)).toEqual([...times(4, 'waits'), 'full']);
  });

  it('skips a check that has waited too long to be answered in time', async () => {
    const { known, enter, leave, told, deadlines } = trial(1, 5);
    enter(known, 3);
    known.pace.record(10_000);
    Object.defineProperty(deadlines[1], 'remainingMs', { value: 19_000 });
    leave(known);
    expect(await told()).toEqual(['admitted', 'full', 'admitted']);
  });
});
