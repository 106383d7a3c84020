import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadline, type DeadlineEnd } from './deadline.js';
import { Deadlines } from './deadlines.js';

describe('a deadline', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('tells everyone who listens, once, when its time has passed', () => {
    const deadline = new Deadline(100);
    const ends: DeadlineEnd[] = [];
    deadline.onEnd((end) => ends.push(end));
    jest.advanceTimersByTime(99);
    expect(ends).toEqual([]);
    jest.advanceTimersByTime(1);
    deadline.end('aborted');
    expect(ends).toEqual(['timeout']);
  });

  it('tells a late listener at once', () => {
    const deadline = new Deadline(100);
    deadline.end('aborted');
    const ends: DeadlineEnd[] = [];
    deadline.onEnd((end) => ends.push(end));
    expect(ends).toEqual(['aborted']);
  });

  it('says nothing once its call is over, and has no time below zero', () => {
    const deadline = new Deadline(100);
    const ends: DeadlineEnd[] = [];
    deadline.onEnd((end) => ends.push(end));
    deadline.clear();
    jest.advanceTimersByTime(500);
    expect(ends).toEqual([]);
    expect(deadline.remainingMs).toBe(0);
  });

  it('ends for every running call at a shutdown, and at once for later ones', () => {
    const deadlines = new Deadlines();
    const running = deadlines.start(1_000);
    const over = deadlines.start(1_000);
    over.clear();
    deadlines.close();
    expect([running.ended, over.ended, deadlines.start(1_000).ended]).toEqual(['shutting_down', undefined, 'shutting_down']);
  });
});
