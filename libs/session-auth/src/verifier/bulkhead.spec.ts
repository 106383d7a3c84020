import { describe, expect, it } from '@jest/globals';
import { Deadline } from '../client/deadline.js';
import { Bulkhead } from './bulkhead.js';

describe('the bulkhead', () => {
  it('admits up to its limit, lets as many wait as it may, and refuses the next at once', () => {
    const bulkhead = new Bulkhead({ maxInFlight: 1, maxQueued: 1 });
    const deadline = new Deadline(60_000);
    expect(bulkhead.enter(deadline)).toBe('admitted');
    expect(bulkhead.enter(deadline)).toBeInstanceOf(Promise);
    expect(bulkhead.enter(deadline)).toBe('full');
    deadline.end('aborted');
  });

  it('has a place for each of its limit, and for no more', () => {
    const bulkhead = new Bulkhead({ maxInFlight: 3, maxQueued: 0 });
    const deadline = new Deadline(60_000);
    expect(Array.from({ length: 4 }, () => bulkhead.enter(deadline))).toEqual(['admitted', 'admitted', 'admitted', 'full']);
    bulkhead.leave();
    expect([bulkhead.enter(deadline), bulkhead.enter(deadline)]).toEqual(['admitted', 'full']);
    deadline.clear();
  });

  it('gives no place to one whose deadline has ended', () => {
    const deadline = new Deadline(60_000);
    deadline.end('shutting_down');
    expect(new Bulkhead({ maxInFlight: 1, maxQueued: 1 }).enter(deadline)).toBe('shutting_down');
  });

  it('gives a place that becomes free to the one that has waited longest', async () => {
    const bulkhead = new Bulkhead({ maxInFlight: 1, maxQueued: 2 });
    const deadline = new Deadline(60_000);
    await bulkhead.enter(deadline);
    const admitted: string[] = [];
    const first = Promise.resolve(bulkhead.enter(deadline)).then(() => admitted.push('first'));
    const second = Promise.resolve(bulkhead.enter(deadline)).then(() => admitted.push('second'));
    bulkhead.leave();
    await first;
    expect(admitted).toEqual(['first']);
    bulkhead.leave();
    await second;
    expect(admitted).toEqual(['first', 'second']);
    deadline.clear();
  });

  it('lets nobody wait longer than his deadline, and keeps no place for him', async () => {
    const bulkhead = new Bulkhead({ maxInFlight: 1, maxQueued: 1 });
    const holder = new Deadline(60_000);
    const impatient = new Deadline(60_000);
    await bulkhead.enter(holder);
    const waiting = bulkhead.enter(impatient);
    impatient.end('timeout');
    await expect(Promise.resolve(waiting)).resolves.toBe('timeout');
    bulkhead.leave();
    expect(bulkhead.enter(holder)).toBe('admitted');
    holder.clear();
  });
});
