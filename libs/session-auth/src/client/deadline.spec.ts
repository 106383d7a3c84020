import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadline, noReplyAt, type DeadlineEnd } from './deadline.js';
import { Deadlines } from './deadline.js';

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
    deadline.end('shutting_down');
    expect(ends).toEqual([]);
    expect(deadline.remainingMs).toBe(0);
  });

  it('has not ended when its call is over before its time has passed', () => {
    const deadline = new Deadline(100);
    deadline.clear();
    jest.advanceTimersByTime(500);
    expect(deadline.ended).toBeUndefined();
  });

  it('counts down to its end, keeps the first reason of it, and is released then', () => {
    const released: Deadline[] = [];
    const deadline = new Deadline(100, (over) => released.push(over));
    jest.advanceTimersByTime(40);
    expect(deadline.remainingMs).toBe(60);
    deadline.end('aborted');
    deadline.end('shutting_down');
    expect(deadline.ended).toBe('aborted');
    expect(released).toEqual([deadline]);
  });

  it('ends for every running call at a shutdown, and at once for later ones', () => {
    const deadlines = new Deadlines();
    const running = deadlines.start(1_000);
    const over = deadlines.start(1_000);
    over.clear();
    void deadlines.close();
    expect([running.ended, over.ended, deadlines.start(1_000).ended]).toEqual(['shutting_down', undefined, 'shutting_down']);
  });
});

describe('a shutdown that is asked for twice', () => {
  it('is over for both when the last call is', async () => {
    const deadlines = new Deadlines(60_000);
    const running = deadlines.start(60_000);
    const closed = [deadlines.close(), deadlines.close()];
    running.clear();
    await Promise.all(closed);
    expect(running.ended).toBeUndefined();
  });
});

describe('the clock of a deadline', () => {
  it('does not keep the process alive', () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = timers();
    const deadline = new Deadline(60_000);
    expect(timers()).toBe(before);
    deadline.clear();
  });
});

describe('a call that met its deadline', () => {
  it.each([
    ['timeout', 'timeout'],
    ['aborted', 'timeout'],
    ['shutting_down', 'shutting_down'],
  ] as const)('by %s brought no reply: %s', (end, reason) => {
    expect(noReplyAt(end)).toEqual({ noReply: reason });
  });
});
