import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type ActiveCause, type CauseName, CAUSES } from '../../contract/causes.js';
import { CAUSE_CHANNEL } from '../../contract/diagnostics.js';
import type { UnavailableReason } from '../../contract/outcome.js';
import { Causes } from './cause-log.js';

const MINUTE_MS = 60_000;
const MAX_SUBJECTS = 500;

describe('the causes of denials', () => {
  let lines: string[];
  let causes: Causes;
  let active: readonly ActiveCause[];
  let areDegrading: boolean;
  let contexts: unknown[];
  const start = (): Causes => {
    const started = new Causes();
    started.onChange = (...changed) => ([active, areDegrading] = changed);
    return started;
  };
  /** A failed check every `everyMs` for some time. */
  const failFor = (ms: number, everyMs: number): void => {
    for (let spentMs = 0; spentMs <= ms; spentMs += everyMs) {
      causes.callFailed('user_details', 'server_error');
      if (spentMs < ms) jest.advanceTimersByTime(everyMs);
    }
  };

  beforeEach(() => {
    jest.useFakeTimers();
    [lines, active, contexts, areDegrading] = [[], [], [], false];
    for (const level of ['warn', 'error', 'log'] as const)
      jest.spyOn(Logger.prototype, level).mockImplementation(function (this: Logger, line: unknown) {
        lines.push(`${level} ${String(line)}`);
        contexts.push(Reflect.get(this, 'context'));
      });
    causes = start();
  });
  afterEach(() => {
    causes.close();
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('have one line when one begins, and one when it is over, however many calls fail', () => {
    causes.attemptFailed('server_error', '502');
    failFor(10 * MINUTE_MS, 1_000);
    expect(lines).toEqual([
      'warn service failing: checks get 503: the session service answers 502. Its own log says why.',
    ]);
    expect(active).toMatchObject([
      { cause: 'service failing', subject: 'checks', failures: 601, isRecovering: false },
    ]);

    jest.advanceTimersByTime(2_000);
    causes.callAnswered('user_details', false);
    expect(active).toMatchObject([{ isRecovering: true }]);
    jest.advanceTimersByTime(MINUTE_MS - 2_001);
    expect(lines).toHaveLength(1);
    jest.advanceTimersByTime(1);
    expect(lines.slice(1)).toEqual(['log service failing: over after 602 s, 601 failed (checks)']);
    expect([active, causes.areNone, contexts]).toEqual([[], true, ['SessionAuth', 'SessionAuth']]);
  });

  it('last until there is evidence of their end, with few calls and with none', () => {
    failFor(10 * MINUTE_MS, 20_000);
    jest.advanceTimersByTime(60 * MINUTE_MS);
    expect([lines.length, active.length]).toEqual([1, 1]);
    causes.callAnswered('user_details', true);
    expect(lines[1]).toBe('log service failing: over after 4200 s, 31 failed (checks)');
  });

  it('are one if calls fail and succeed in turns', () => {
    for (let turn = 0; turn < 100; turn += 1) {
      causes.callFailed('user_details', 'unreachable');
      jest.advanceTimersByTime(30_000);
      causes.callFailed('user_details', 'unreachable');
      causes.callAnswered('user_details', true);
      jest.advanceTimersByTime(30_000);
    }
    jest.advanceTimersByTime(MINUTE_MS);
    expect(lines.map((line) => line.slice(0, 30))).toEqual([
      'warn service unreachable: chec',
      'log service unreachable: over ',
    ]);
  });

  it('have at most two lines a minute, whatever the time between two failures', () => {
    for (const waitMs of [5_000, 59_999, 60_000, 60_000]) {
      causes.callFailed('user_details', 'timeout');
      causes.callAnswered('user_details', true);
      jest.advanceTimersByTime(waitMs);
    }
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['warn', 'log', 'warn', 'log']);
    expect(lines[1]).toBe('log service too slow: over after 65 s, 3 failed (checks)');
  });

  it.each<[callers: string, failures: string, boolean]>([
    ['one caller, once', 'a', false],
    ['one caller, in a row', 'aaa', true],
    ['one caller, among others that are answered', 'a.a.a.a.', false],
    ['several callers, among others that are answered', 'a.b.a.', true],
    ['several callers, and all are answered again', 'aaa.', false],
  ])('degrade the state by failures of %s: %s', (_who, calls, degraded) => {
    for (const call of calls)
      if (call === '.') causes.callAnswered('user_details', true);
      else causes.callFailed('user_details', 'server_error', call);
    expect(areDegrading).toBe(degraded);
  });

  it.each<[CauseName, boolean]>([
    ['rule failed', true],
    ['invalid user record', false],
    ['clock differs', false],
  ])('degrade the state at once, unless they are harmless: %s', (cause, degraded) => {
    causes.occurred(cause);
    expect(areDegrading).toBe(degraded);
    causes.recovered(cause);
    expect(areDegrading).toBe(false);
  });

  it.each<[UnavailableReason, CauseName | undefined]>([
    ['unreachable', 'service unreachable'],
    ['timeout', 'service too slow'],
    ['server_error', 'service failing'],
    ['rate_limited', 'throttled'],
    ['busy', 'too many calls'],
    ['api_key', 'no key'],
    ['malformed', undefined],
  ])('name that of the reason %s: %s', (reason, cause) => {
    causes.callFailed('user_details', reason);
    expect(active.map((each) => each.cause)).toEqual(cause === undefined ? [] : [cause]);
  });

  it('count the calls that an open breaker does not make', () => {
    causes.callFailed('user_details', 'server_error');
    causes.callFailed('sign_in', 'server_error');
    causes.callFailed('user_details', 'circuit_open');
    expect(active.map(({ failures }) => failures)).toEqual([2, 1]);
  });

  it('say why a connection failed: once, with its code', () => {
    causes.attemptFailed('unreachable', 'ECONNREFUSED');
    causes.callFailed('user_details', 'unreachable');
    causes.callFailed('sign_in', 'unreachable');
    causes.attemptFailed('unreachable', 'CERT_HAS_EXPIRED');
    causes.callFailed('sign_out', 'unreachable');
    expect(lines).toEqual([
      'warn service unreachable: checks get 503: the connection to the session service failed with ECONNREFUSED. Check that it runs, and the host and the port in baseUrl.',
      expect.stringMatching(
        /^warn service unreachable: sign-ins get 503: the connection to the session service failed\. Check that it runs and speaks HTTP, /,
      ),
      expect.stringMatching(
        /^warn TLS failure: the connection to the session service failed with CERT_HAS_EXPIRED\. Calls get 503\. Check its certificate, /,
      ),
    ]);
  });

  it('have an error, and no other line, if no call can be sent', () => {
    causes.occurred('no HTTP client', '', 'Error: why');
    causes.callFailed('user_details', 'unreachable');
    expect(lines).toEqual([
      'error no HTTP client: no call can be sent, so that every check gets 503. Error: why',
    ]);
  });

  it('name the status that callers get, and the option that fits', () => {
    for (const operation of ['user_details', 'sign_in', 'sign_out'] as const)
      for (const reason of ['rate_limited', 'timeout'] as const) causes.callFailed(operation, reason);
    expect(lines.map((line) => /: (\S+ get \d+): .*?([^ ]+)\.$/.exec(line)?.slice(1).join(': '))).toEqual([
      'checks get 503: cache',
      'checks get 503: timeoutMs',
      'sign-ins get 429: calls',
      'sign-ins get 503: signInTimeoutMs',
      'sign-outs get 503: calls',
      'sign-outs get 503: signOutTimeoutMs',
    ]);
  });

  it('end with an accepted session, if an answer of another kind is no evidence', () => {
    causes.occurred('access refused', 'checks');
    causes.callAnswered('user_details', false);
    expect(active).toMatchObject([{ isRecovering: false }]);
    causes.callAnswered('user_details', true);
    expect(active).toMatchObject([{ isRecovering: true }]);
  });

  it('are over after ten minutes without one of which there is no other evidence', () => {
    causes.occurred('clock differs');
    jest.advanceTimersByTime(5 * MINUTE_MS);
    causes.occurred('clock differs');
    jest.advanceTimersByTime(10 * MINUTE_MS - 1);
    expect(lines).toHaveLength(1);
    jest.advanceTimersByTime(1);
    expect(lines[1]).toBe('log clock differs: over after 300 s, 2 failed');
  });

  it('are limited in number, and others begin when some are over', () => {
    for (let index = 0; index < 2 * MAX_SUBJECTS; index += 1)
      causes.occurred('invalid user record', `field${index}`, 'x');
    expect(lines).toHaveLength(MAX_SUBJECTS);
    causes.callFailed('user_details', 'server_error');
    expect(lines.at(-1)).toContain('service failing: ');
    jest.advanceTimersByTime(10 * MINUTE_MS);
    causes.occurred('invalid user record', 'another', 'another must be set');
    expect(lines.at(-1)).toMatch(/another must be set/);
  });

  it('note a status that the interface does not list once for each operation', () => {
    for (const status of [409, 409, 422, 423]) causes.unlistedStatus('sign_in', status);
    const start = 'warn unlisted status: sign_in answered';
    expect(lines).toEqual([
      expect.stringContaining(`${start} 409, which the interface does not list. It counts as 403;`),
      expect.stringContaining('It counts as 400;'),
      expect.stringContaining('It counts as 403;'),
    ]);
    const remedies = lines.map((line) => line.includes("statusMap: { signIn: { 422: 'rejected' } }"));
    expect(remedies).toEqual([false, true, false]);
  });

  it('write no line and no change after the application has closed', () => {
    causes.callFailed('user_details', 'timeout');
    causes.callAnswered('user_details', true);
    causes.close();
    causes.callFailed('sign_in', 'timeout');
    jest.advanceTimersByTime(MINUTE_MS);
    expect([lines.length, active.length]).toEqual([1, 1]);
  });

  it('begin and end all the same if the logger of the application throws', () => {
    for (const level of ['warn', 'log'] as const)
      jest.spyOn(Logger.prototype, level).mockImplementation(() => {
        throw new Error('of the application');
      });
    causes.callFailed('user_details', 'timeout');
    causes.unlistedStatus('user_details', 422);
    causes.callAnswered('user_details', true);
    expect(active).toHaveLength(1);
    jest.advanceTimersByTime(MINUTE_MS);
    expect(active).toEqual([]);
  });

  it('publish how many of one name are active, to those who listen', () => {
    const messages: unknown[] = [];
    const keep = (message: unknown): void => void messages.push(message);
    subscribe(CAUSE_CHANNEL, keep);
    try {
      for (const operation of ['user_details', 'sign_in'] as const) causes.callFailed(operation, 'timeout');
      causes.callAnswered('sign_in', true);
      jest.advanceTimersByTime(MINUTE_MS);
    } finally {
      unsubscribe(CAUSE_CHANNEL, keep);
    }
    expect(messages).toEqual([1, 2, 1].map((count) => ({ cause: 'service too slow', active: count })));
  });

  it.each(Object.keys(CAUSES) as CauseName[])('begin a line with their name: %s', (cause) => {
    start().occurred(cause, 'subject', 'one', 'two');
    expect(lines).toEqual([expect.stringMatching(new RegExp(`^(?:warn|error) ${cause}: .`))]);
    expect(lines[0]).not.toContain('%');
  });
});
